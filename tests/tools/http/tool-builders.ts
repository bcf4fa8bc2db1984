import type { HttpToolDefinition } from "../../../src/tools/http/definition";
import type { ToolContext } from "../../../src/tools/tool";

/** The definition of an HTTP tool that accepts any arguments. `settings` replaces parts of it. */
export const toolAt = (
  url: string,
  settings: Partial<HttpToolDefinition> = {},
): HttpToolDefinition => ({
  name: "look",
  description: "Looks.",
  parameters: { type: "object" },
  method: "GET",
  url,
  headers: {},
  preset: {},
  timeoutMs: 5_000,
  repeatable: false,
  ...settings,
});

/** The context of a call. `settings` replaces parts of it. */
export const contextWith = (
  fetch: typeof globalThis.fetch,
  settings: Partial<ToolContext> = {},
): ToolContext => ({
  place: { session: "s", turn: 1, attempt: 1, agent: "a", round: 1, toolCall: "c1" },
  files: null,
  fetch,
  signal: new AbortController().signal,
  idempotencyKey: "key-1",
  now: () => 0,
  ...settings,
});
