import type { CallRecord } from "../../src/agents/records";

/** Records of one call's conversation, as tests of its compaction build them. */

/** Text of this many tokens, estimated at four bytes a token. */
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

/** A model's window. After a compaction the conversation may have 4,000 tokens. */
export const ROOM = { contextWindow: 10_000, calibration: 1 };
