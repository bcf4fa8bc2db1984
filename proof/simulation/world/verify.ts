import { isDeepStrictEqual } from "node:util";
import {
  emptySession,
  evolve,
  inFlight,
  nextTimerAt,
  owed,
  type SessionState,
} from "../../../src/coordination";
import { type SessionEvent, SessionEventSchema } from "../../../src/protocol/events";
import { check, type NumberedEvent } from "../../../checker";
import type { Shell } from "./shell";
import { simulate } from "./simulate";
import type { Situation } from "./situation";

export type Verdict = { shell: Shell; problems: string[] };

/** How many prefixes apart a state is also sent through JSON. */
const JSON_EVERY = 16;

/** Runs a situation and looks at it from all sides: the log's invariants, its form, and what folding it gives. */
export function verify(situation: Situation): Verdict {
  const recoveries: string[] = [];
  const shell = simulate(situation, (lost, folded) => {
    if (!isDeepStrictEqual(lost, folded))
      recoveries.push("I19: after a crash the folded log is not the state that was lost");
  });
  return { shell, problems: [...recoveries, ...inspect(shell)] };
}

/** Everything that is wrong with a finished run, in words. */
export function inspect(shell: Shell): string[] {
  const {
    log,
    ledger,
    tools,
    diedAfter,
    files,
    cancelAskedAfter,
    cancelsAsked,
    waitsAsked,
    faults,
    state,
  } = shell;
  const outside = {
    ledger,
    tools,
    diedAfter,
    files,
    cancelsAsked,
    waitsAsked,
    finished: true,
    ...(cancelAskedAfter === undefined ? {} : { cancelAskedAfter }),
  };
  const broken = check(log, outside).map(
    ({ invariant, sequence_number, sentence }) =>
      `${invariant} at #${sequence_number}: ${sentence}`,
  );
  return [...broken, ...faults, ...log.flatMap(malformed), ...foldProblems(log, state)];
}

/** The number is the log's, the rest is the rules'. */
export function bare({ sequence_number: _, ...event }: NumberedEvent): SessionEvent {
  return event;
}

function malformed(event: NumberedEvent): string[] {
  const text = JSON.stringify(bare(event));
  const parsed = SessionEventSchema.safeParse(JSON.parse(text));
  if (!parsed.success)
    return [`#${event.sequence_number} is no event of the schema: ${parsed.error.message}`];
  return isDeepStrictEqual(parsed.data, bare(event))
    ? []
    : [`#${event.sequence_number} does not survive JSON and the schema unchanged`];
}

/** I19: every prefix folds to a state that can be asked and stored, and the whole log folds to the live state. */
function foldProblems(log: readonly NumberedEvent[], live: SessionState): string[] {
  let state = emptySession;
  const problems: string[] = [];
  for (const event of log) {
    state = evolve(state, event);
    const asked = [owed(state).length, inFlight(state).length, nextTimerAt(state)];
    if (asked.some(Number.isNaN))
      problems.push(`#${event.sequence_number} leaves a state that cannot be asked`);
    if (
      event.sequence_number % JSON_EVERY === 0 &&
      !isDeepStrictEqual(state, JSON.parse(JSON.stringify(state)))
    ) {
      problems.push(`#${event.sequence_number} leaves a state that JSON cannot hold`);
    }
  }
  return isDeepStrictEqual(state, live)
    ? problems
    : [...problems, "I19: folding the log from zero does not give the live state"];
}
