import type { HttpToolDefinition } from "../../../src/tools/http/definition";
import type { ToolContext } from "../../../src/tools/tool";

/** An HTTP tool that accepts any arguments, with a test's settings. */
export const toolAt = (url: string, set: Partial<HttpToolDefinition> = {}): HttpToolDefinition => ({
  name: "look",
  description: "Looks.",
  parameters: { type: "object" },
  method: "GET",
  url,
  headers: {},
  preset: {},
  timeoutMs: 5_000,
  repeatable: false,
  ...set,
});

/** A call at the epoch that is never cancelled. */
export const contextWith = (
  fetch: typeof globalThis.fetch,
  set: Partial<ToolContext> = {},
): ToolContext => ({
  place: { session: "s", turn: 1, attempt: 1, agent: "a", round: 1, toolCall: "c1" },
  files: null,
  fetch,
  signal: new AbortController().signal,
  idempotencyKey: "key-1",
  now: () => 0,
  ...set,
});
