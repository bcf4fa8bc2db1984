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
import type { Situation } from "./rules-situation";

export type Verdict = { shell: Shell; problems: string[] };

/** After each 16th event, the state must also survive a round trip through JSON. */
const JSON_EVERY = 16;

/** Runs a situation. Checks the log's invariants, the form of its events, and its fold. */
export function verify(situation: Situation): Verdict {
  const recoveries: string[] = [];
  const shell = simulate(situation, (lost, folded) => {
    if (!isDeepStrictEqual(lost, folded))
      recoveries.push("I19: after a crash, the fold of the log differs from the lost state");
  });
  return { shell, problems: [...recoveries, ...inspect(shell)] };
}

/** All problems of a finished run, each as a sentence. */
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
  const violations = check(log, outside).map(
    ({ invariant, sequence_number, sentence }) =>
      `${invariant} at #${sequence_number}: ${sentence}`,
  );
  return [...violations, ...faults, ...log.flatMap(formProblems), ...foldProblems(log, state)];
}

/** The event without its sequence number. The rules make events without numbers. */
export function bare({ sequence_number: _, ...event }: NumberedEvent): SessionEvent {
  return event;
}

/** Problems of an event's form. */
function formProblems(event: NumberedEvent): string[] {
  const text = JSON.stringify(bare(event));
  const parsed = SessionEventSchema.safeParse(JSON.parse(text));
  if (!parsed.success)
    return [`#${event.sequence_number} does not match the schema: ${parsed.error.message}`];
  return isDeepStrictEqual(parsed.data, bare(event))
    ? []
    : [`#${event.sequence_number} is changed by JSON or by parsing it with the schema`];
}

/**
 * I19: every prefix of the log folds to a valid state that JSON can represent, and the whole log
 * folds to the state in memory.
 */
function foldProblems(log: readonly NumberedEvent[], live: SessionState): string[] {
  let state = emptySession;
  const problems: string[] = [];
  for (const event of log) {
    state = evolve(state, event);
    const results = [owed(state).length, inFlight(state).length, nextTimerAt(state)];
    if (results.some(Number.isNaN))
      problems.push(`#${event.sequence_number} leads to a state that cannot be evaluated`);
    if (
      event.sequence_number % JSON_EVERY === 0 &&
      !isDeepStrictEqual(state, JSON.parse(JSON.stringify(state)))
    ) {
      problems.push(`#${event.sequence_number} leads to a state that JSON cannot represent`);
    }
  }
  return isDeepStrictEqual(state, live)
    ? problems
    : [...problems, "I19: the fold of the log differs from the live state"];
}
