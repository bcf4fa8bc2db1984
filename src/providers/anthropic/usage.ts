import type { Usage } from "../../protocol/events";
import { withHostedUses } from "../hosted";
import { reportedCount } from "../reply-size";
import { fieldsOf } from "./schema";

/** Counts that one or several requests have reported. The input counts do not overlap. */
export type Counts = Record<
  "requests" | "input" | "cacheRead" | "cacheWrite" | "output" | "thinking" | "searches",
  number
>;

export const NO_COUNTS: Counts = {
  requests: 0,
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  output: 0,
  thinking: 0,
  searches: 0,
};

/**
 * The counts after another report. Reports are cumulative; a missing field keeps its earlier value.
 */
export function readCounts(before: Counts, value: unknown): Counts {
  const usage = fieldsOf(value);
  const server = fieldsOf(usage["server_tool_use"]);
  return {
    requests: 1,
    input: reportedCount(usage["input_tokens"], before.input),
    cacheRead: reportedCount(usage["cache_read_input_tokens"], before.cacheRead),
    cacheWrite: reportedCount(usage["cache_creation_input_tokens"], before.cacheWrite),
    output: reportedCount(usage["output_tokens"], before.output),
    thinking: reportedCount(
      fieldsOf(usage["output_tokens_details"])["thinking_tokens"],
      before.thinking,
    ),
    searches: reportedCount(server["web_search_requests"], before.searches),
  };
}

export function addCounts(a: Counts, b: Counts): Counts {
  return {
    requests: a.requests + b.requests,
    input: a.input + b.input,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    output: a.output + b.output,
    thinking: a.thinking + b.thinking,
    searches: a.searches + b.searches,
  };
}

/**
 * The usage; `null` if nothing was reported. Each search is charged, as counted by the provider.
 * Code is charged by container time; a call has one container, so any number of runs is one use.
 */
export function toUsage(counts: Counts, ranCode: boolean): Usage | null {
  const { requests, input, cacheRead, cacheWrite, output, thinking, searches } = counts;
  const all = input + cacheRead + cacheWrite;
  if (all === 0 && output === 0) return null;
  const usage: Usage = {
    input_tokens: all,
    output_tokens: output,
    reasoning_tokens: Math.min(thinking, output),
    cached_tokens: cacheRead,
    ...(cacheWrite > 0 && { cache_write_tokens: cacheWrite }),
    ...(requests > 1 && { requests }),
  };
  return withHostedUses(usage, { web_search: searches, code_execution: ranCode ? 1 : 0 });
}
