/** An independent checker of session logs. */
export { check } from "./check";
export type { LedgerEntry, NumberedEvent, Outside, Violation } from "./types";
