import {
  limitsAlarms,
  i10Stored,
  i12Settled,
  i14Slots,
  i15Cancelled,
  i19Fold,
  i1SameBytes,
  i21Anonymous,
  i22Unseen,
  i2Acknowledged,
  i5Shown,
  type OutsideCheck,
  ofLog,
  understood,
  unhandled,
  wellFormed,
} from "./outside";
import { respectsRates } from "./outside-rates";
import { i13Progress } from "./outside-progress";
import { decisionsMatchReplies } from "./outside-replies";
import type { RunRecord } from "./run-record";

export type Breach = { invariant: string; at: number; sentence: string };

/**
 * Checks of every run, by their numbers in `docs/explain/reliability.md`. Other names are rules of
 * `docs/explain/protocol.md`.
 */
export const OUTSIDE: readonly (readonly [string, OutsideCheck])[] = [
  ["I1", i1SameBytes],
  ["I2", i2Acknowledged],
  ["I5-shown", i5Shown],
  ["I10-stored", i10Stored],
  ["I12", i12Settled],
  ["I13", i13Progress],
  ["I14", i14Slots],
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

/** All violations of a run. `at`: sequence number of an event, or 0. */
export function breaches(run: RunRecord): Breach[] {
  const seen = OUTSIDE.flatMap(([invariant, look]) =>
    look(run).map((sentence) => ({ invariant, at: 0, sentence })),
  );
  const read = ofLog(run).map(({ invariant, sequence_number, sentence }) => ({
    invariant,
    at: sequence_number,
    sentence,
  }));
  return [...read, ...seen];
}
