import { type ModelInput, nothingAsked } from "./model-input";
import type { Format, Json } from "./dialect";
import type { ReportedUsage } from "./reply";

/**
 * A request to a simulated provider. Tests of budgets, cancellation and concurrency compare these
 * records with those of the service. Times are Unix ms of the provider's clock.
 */
export type RecordedRequest = {
  /** Number of the request in order of arrival, from 1. */
  id: number;
  format: Format;
  /** From the body, or from the path in formats that have it there. */
  model: string;
  /** With the query. */
  path: string;
  /** All headers, also the one with the API key. The names are in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Json;
  /** The part that a model reads. For a refused request, only the name of the model is set. */
  asked: ModelInput;
  startedAt: number;
  /** Time of the response headers and first byte; `null` if none was sent. */
  firstByteAt: number | null;
  /** `null` while the request is open. */
  endedAt: number | null;
  /** `closed`: the client closed the connection. `cut`: the provider broke it. */
  outcome: "open" | "completed" | "failed" | "cut" | "closed";
  /** HTTP status of the response; 0 before its headers are sent. */
  status: number;
  /** Tokens written to the socket so far. */
  tokensSent: number;
  inputTokens: number;
  /** The usage that the reply reported; `null` if the stream ended before its usage. */
  reported: ReportedUsage | null;
  /** Message of the provider's refusal; `null` if the provider accepted the request. */
  refusal: string | null;
  /** Error that the script threw, with its stack; the client got a 500. `null`: none. */
  scriptError: string | null;
};

type NewRequest = Pick<
  RecordedRequest,
  "id" | "format" | "model" | "path" | "headers" | "body" | "startedAt"
>;

/** When a request arrived, when its headers and first byte were sent, and when it ended. */
export type RequestTimes = Pick<RecordedRequest, "startedAt" | "firstByteAt" | "endedAt">;

/** The record of a request that has just arrived. */
export const newRecord = (arrived: NewRequest): RecordedRequest => ({
  ...arrived,
  asked: nothingAsked(arrived.model),
  firstByteAt: null,
  endedAt: null,
  outcome: "open",
  status: 0,
  tokensSent: 0,
  inputTokens: 0,
  reported: null,
  refusal: null,
  scriptError: null,
});

/** The charge for one request. `at`: Unix ms of its end. */
export type Charge = { at: number; model: string; inputTokens: number; outputTokens: number };

/**
 * The charge of each request that did not fail. A reply that was cut or abandoned reported no
 * usage. Its caller pays for the input and for the output so far, as with real providers.
 */
export function charges(requests: readonly RecordedRequest[]): Charge[] {
  return requests
    .filter(({ outcome }) => outcome !== "failed")
    .map(({ model, startedAt, endedAt, reported, inputTokens, tokensSent }) => ({
      at: endedAt ?? startedAt,
      model,
      inputTokens: reported?.inputTokens ?? inputTokens,
      outputTokens: reported?.outputTokens ?? tokensSent,
    }));
}

/** Maximum number of requests that were open at the same time. */
export const peakConcurrency = (requests: readonly RequestTimes[]): number =>
  peak(requests, ({ endedAt }) => endedAt);

/** Maximum number of requests that waited for response headers at the same time. */
export const peakAwaitingHeaders = (requests: readonly RequestTimes[]): number =>
  peak(requests, ({ firstByteAt, endedAt }) => firstByteAt ?? endedAt);

/** Maximum number of requests open at the same time; `until`: when a request stops to count. */
function peak(
  requests: readonly RequestTimes[],
  until: (request: RequestTimes) => number | null,
): number {
  const edges = requests.flatMap((request) => [
    { at: request.startedAt, step: 1 },
    { at: until(request) ?? Number.POSITIVE_INFINITY, step: -1 },
  ]);
  // At equal times, ends come before starts, so that only certain overlaps count.
  edges.sort((a, b) => a.at - b.at || a.step - b.step);
  let open = 0;
  let highest = 0;
  for (const { step } of edges) {
    open += step;
    highest = Math.max(highest, open);
  }
  return highest;
}
