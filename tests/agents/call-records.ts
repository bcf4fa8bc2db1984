import type { CallRecord } from "../../src/agents/records";

/** Builders of the records of a conversation, for tests of compaction. */

/** A text whose estimated size is this many tokens, at four bytes per token. */
export const words = (tokens: number, letter = "x") => letter.repeat(tokens * 4);
export const start: CallRecord = { kind: "start", system: "role", user: "THE TASK" };
export const call = (id: string, name = "read_file") => ({
  type: "tool_call" as const,
  id,
  name,
  arguments: `{"path":"${id}"}`,
});
export const reply = (...ids: string[]): CallRecord => ({
  kind: "reply",
  items: [{ type: "text", text: `looking at ${ids.join()}` }, ...ids.map((id) => call(id))],
});
export const result = (toolCall: string, tokens: number): CallRecord => ({
  kind: "result",
  toolCall,
  name: "read_file",
  text: words(tokens),
  isError: false,
});
export const note = (text: string): CallRecord => ({ kind: "note", text });

/** With these limits, a conversation may have 4,000 tokens after a compaction. */
export const CONTEXT_LIMITS = { contextWindow: 10_000, calibration: 1 };
