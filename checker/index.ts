/** An independent checker of session logs. */
export { check } from "./check";
export { rulesByTurn } from "./turn-team";
export type { LedgerEntry, NumberedEvent, Outside, Violation } from "./types";
