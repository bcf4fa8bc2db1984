import {
  limitsAlarms,
  i10Stored,
  i12Settled,
  i14Slots,
  lostRelaysInterrupt,
  i15Cancelled,
  i19Fold,
  i1SameBytes,
  i21Anonymous,
  i22Unseen,
  i2Acknowledged,
  i5Shown,
  type OutsideCheck,
  violationsInLog,
  understood,
  unhandled,
  wellFormed,
} from "./outside";
import { contextsOfTurns } from "./project-states";
import { respectsRates } from "./outside-rates";
import { i13Progress } from "./outside-progress";
import { decisionsMatchReplies } from "./outside-replies";
import { teamsOfTurns } from "./outside-teams";
import { queueRuns } from "./outside-queue";
import { stablePrefixes } from "./outside-prefix";
import { headMoves, historiesOfTurns } from "./outside-tree";
import type { RunRecord } from "./run-record";

/**
 * A violation that a run's checks found. `at`: the sequence number of an event; 0 if there is none.
 */
export type Breach = { invariant: string; at: number; sentence: string };

/**
 * The checks of a run that need more than its log. Numbers refer to the invariants of
 * `docs/explain/reliability.md`, other names to rules of `docs/explain/protocol.md`.
 */
export const OUTSIDE: readonly (readonly [string, OutsideCheck])[] = [
  ["I1", i1SameBytes],
  ["I2", i2Acknowledged],
  ["I5-shown", i5Shown],
  ["I10-stored", i10Stored],
  ["contexts", contextsOfTurns],
  ["head", headMoves],
  ["history", historiesOfTurns],
  ["teams", teamsOfTurns],
  ["queue", queueRuns],
  ["prefix", stablePrefixes],
  ["I12", i12Settled],
  ["I13", i13Progress],
  ["I14", i14Slots],
  ["relays", lostRelaysInterrupt],
  ["I15", i15Cancelled],
  ["I19", i19Fold],
  ["I21", i21Anonymous],
  ["I22", i22Unseen],
  ["alarms", limitsAlarms],
  ["rates", respectsRates],
  ["said", decisionsMatchReplies],
  ["understood", understood],
  ["unhandled", unhandled],
  ["well-formed", wellFormed],
];

/** All violations of a run: those in its log, then those in its other records. */
export function breaches(run: RunRecord): Breach[] {
  const inRecords = OUTSIDE.flatMap(([invariant, check]) =>
    check(run).map((sentence) => ({ invariant, at: 0, sentence })),
  );
  const inLog = violationsInLog(run).map(({ invariant, sequence_number, sentence }) => ({
    invariant,
    at: sequence_number,
    sentence,
  }));
  return [...inLog, ...inRecords];
}
