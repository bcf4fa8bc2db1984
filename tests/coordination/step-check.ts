import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import {
  eventsOf,
  evolve,
  inFlight,
  owed,
  runningTurn,
  type SessionState,
  stateAfter,
  type Step,
} from "../../src/coordination";
import { isTerminal, type SessionEvent, SessionEventSchema } from "../../src/protocol/events";

/** Tolerance for rounding in sums of US dollars. */
const EPSILON_USD = 1e-9;

/** Checks the invariants that hold after every input. `steps` are the steps of this input. */
export function checkSteps(before: SessionState, steps: readonly Step[]): void {
  const events = eventsOf(steps);
  const after = stateAfter(before, steps);
  for (const [index, step] of steps.entries())
    expect(step.before, "each step starts with the state after the previous step").toBe(
      index === 0 ? before : steps[index - 1]?.after,
    );
  expectSame(JSON.parse(JSON.stringify(after)), after, "the state is plain data");
  const stored = SessionEventSchema.array().parse(JSON.parse(JSON.stringify(events)));
  expectSame(stored.reduce(evolve, before), after, "the stored log folds to the same state");
  const ids = owed(after).map(({ id }) => id);
  expect(new Set(ids).size, "the ids of owed effects are unique").toBe(ids.length);
  const running = new Set(inFlight(after));
  expect(
    ids.filter((id) => running.has(id)),
    "no effect in flight is owed",
  ).toEqual([]);
  checkBudget(after);
  checkEnd(events, after);
  freeze(after);
}

/** Uses the slow `expect` only for its message, because this check runs after every input. */
function expectSame(actual: unknown, expected: unknown, sentence: string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, sentence).toEqual(expected);
}

function checkBudget(state: SessionState): void {
  const turn = runningTurn(state);
  if (!turn) return;
  const calls = Object.values(turn.inFlight).filter((entry) => entry.type === "model_call");
  const usd = calls.reduce((sum, entry) => sum + entry.reservedUsd, turn.spentUsd);
  const tokens = calls.reduce((sum, entry) => sum + entry.reservedTokens, turn.spentTokens);
  expect(usd, "the cost is within the cap").toBeLessThanOrEqual(
    (turn.budget.max_cost_usd ?? Number.POSITIVE_INFINITY) + EPSILON_USD,
  );
  expect(tokens, "the tokens are within the cap").toBeLessThanOrEqual(
    turn.budget.max_tokens ?? Number.POSITIVE_INFINITY,
  );
}

function checkEnd(events: readonly SessionEvent[], after: SessionState): void {
  const end = events.findIndex(({ type }) => isTerminal(type));
  if (end < 0) return;
  const later = events.slice(end + 1).filter(({ turn }) => turn === events[end]?.turn);
  expect(later, "nothing is logged for a turn after its end").toEqual([]);
  if (end < events.length - 1) return;
  expect(
    [runningTurn(after), owed(after), inFlight(after)],
    "no effect is owed or in flight after the end",
  ).toEqual([null, [], []]);
}

/** Makes a state read-only, because `decide` and `evolve` must never change their argument. */
function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const part of Object.values(value)) freeze(part);
}
