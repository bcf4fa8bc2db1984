import type { SessionEvent } from "../protocol/events";
import type { SessionState } from "./state";

/**
 * One decided event with the states around it. `decide` has folded the event already: use `before`
 * and `after` instead of folding again. `after` of one step is `before` of the next.
 */
export type Step = { event: SessionEvent; before: SessionState; after: SessionState };

export const eventsOf = (steps: readonly Step[]): SessionEvent[] => steps.map(({ event }) => event);

/** The state after all steps; `before` if there are none. */
export const stateAfter = (before: SessionState, steps: readonly Step[]): SessionState =>
  steps.at(-1)?.after ?? before;
