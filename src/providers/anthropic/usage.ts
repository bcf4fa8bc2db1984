import type { Usage } from "../../protocol/events";
import { withHostedUses } from "../hosted";
import { reportedCount } from "../reply-size";
import { fieldsOf } from "./schema";

/** Token and search counts of one or several requests. No input token is counted in two fields. */
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
 * The counts after one more usage report. Reports are cumulative; a field that the report omits
 * keeps its earlier value.
 */
export function readCounts(earlier: Counts, value: unknown): Counts {
  const usage = fieldsOf(value);
  const server = fieldsOf(usage["server_tool_use"]);
  return {
    requests: 1,
    input: reportedCount(usage["input_tokens"], earlier.input),
    cacheRead: reportedCount(usage["cache_read_input_tokens"], earlier.cacheRead),
    cacheWrite: reportedCount(usage["cache_creation_input_tokens"], earlier.cacheWrite),
    output: reportedCount(usage["output_tokens"], earlier.output),
    thinking: reportedCount(
      fieldsOf(usage["output_tokens_details"])["thinking_tokens"],
      earlier.thinking,
    ),
    searches: reportedCount(server["web_search_requests"], earlier.searches),
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
 * The usage; `null` if nothing was reported. The provider counts searches and charges for each of
 * them. It charges code by container time. A call has one container, so any number of code runs
 * counts as one use.
 */
export function toUsage(counts: Counts, hasRunCode: boolean): Usage | null {
  const { requests, input, cacheRead, cacheWrite, output, thinking, searches } = counts;
  const allInput = input + cacheRead + cacheWrite;
  if (allInput === 0 && output === 0) return null;
  const usage: Usage = {
    input_tokens: allInput,
    output_tokens: output,
    reasoning_tokens: Math.min(thinking, output),
    cached_tokens: cacheRead,
    ...(cacheWrite > 0 && { cache_write_tokens: cacheWrite }),
    ...(requests > 1 && { requests }),
  };
  return withHostedUses(usage, { web_search: searches, code_execution: hasRunCode ? 1 : 0 });
}
