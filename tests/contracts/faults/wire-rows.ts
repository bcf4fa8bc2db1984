import type { FaultRow } from "./fault-row";
import { REPLY_ROWS } from "./reply-rows";
import { STATUS_ROWS } from "./status-rows";
import { STREAM_ROWS } from "./stream-rows";

/**
 * Every fault of a provider that a run must survive, as data: the bytes that are sent instead, and
 * the expected outcome.
 */
export const FAULT_ROWS: readonly FaultRow[] = [...STATUS_ROWS, ...STREAM_ROWS, ...REPLY_ROWS];
