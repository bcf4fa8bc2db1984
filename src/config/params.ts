import { flag, integer, type Kind, list, mapping, number, oneOf, read, type Section, text, toPlain } from "./fields";
import { MAX_NAME_CHARS } from "./limits";

/** Parameters of Chat Completions that a config may set, and what they take. `extra_body` is for everything else. */
const KINDS: Readonly<Record<string, Kind<unknown>>> = {
  temperature: number(0, 2),
  top_p: number(0, 1),
  top_k: integer(0, 1_000_000),
  min_p: number(0, 1),
  presence_penalty: number(-2, 2),
  frequency_penalty: number(-2, 2),
  repetition_penalty: number(0, 10),
  seed: integer(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  stop: list,
  logit_bias: mapping,
  reasoning_effort: oneOf(["none", "minimal", "low", "medium", "high", "xhigh"]),
  verbosity: oneOf(["low", "medium", "high"]),
  parallel_tool_calls: flag,
  service_tier: text(MAX_NAME_CHARS),
  user: text(MAX_NAME_CHARS),
  prompt_cache_key: text(MAX_NAME_CHARS),
  chat_template_kwargs: mapping,
  separate_reasoning: flag,
};

/** Both names of the output cap; it is a rule of the team, not passed on as it is. */
const OUTPUT_CAPS = ["max_tokens", "max_completion_tokens"] as const;

/** What the service itself says in every request, so that no config can say otherwise. */
const OURS = new Set([
  ...["model", "messages", "tools", "tool_choice", "stream", "stream_options", "n", "functions", "function_call"],
  ...OUTPUT_CAPS,
  ...["__proto__", "constructor", "prototype"],
]);

/** The keys that `readParams` and `readOutputCap` read. */
export const PARAM_KEYS: readonly string[] = [...Object.keys(KINDS), ...OUTPUT_CAPS];

/** The parameters a backend section sets, ready to be sent as they are. */
export function readParams(backend: Section): Record<string, unknown> {
  const params: [string, unknown][] = [];
  for (const [key, kind] of Object.entries(KINDS)) {
    const value = read(backend, key, kind, null);
    if (value !== null) params.push([key, toPlain(value)]);
  }
  const extra = readExtraBody(backend);
  if (extra) params.push(["extra_body", extra]);
  return Object.fromEntries(params);
}

function readExtraBody(backend: Section): unknown {
  const extra = read(backend, "extra_body", mapping, null);
  for (const key of extra?.keys() ?? []) {
    if (!OURS.has(String(key))) continue;
    const detail = `\`${String(key)}\` is the service's own to set; extra_body may not change it.`;
    backend.findings.error("not_allowed", [...backend.path, "extra_body", String(key)], detail, "key");
  }
  return extra && toPlain(extra);
}

/** Most output tokens one call may ask for, as far as the config says; null if it does not. */
export function readOutputCap(backend: Section): number | null {
  const caps = OUTPUT_CAPS.map((key) => read(backend, key, integer(1, 10_000_000), null)).filter((cap) => cap !== null);
  return caps.length === 0 ? null : Math.min(...caps);
}
