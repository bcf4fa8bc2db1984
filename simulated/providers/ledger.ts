import { type ModelInput, nothingAsked } from "./model-input";
import type { Format, Json } from "./dialect";
import type { ReportedUsage } from "./reply";

/**
 * Requests and charges of a simulated provider: independent records for tests of budgets,
 * cancellation and concurrency. Times are Unix ms of the provider's clock.
 */
export type RecordedRequest = {
  /** In order of arrival, from 1. */
  id: number;
  format: Format;
  /** From the body, or from the path in formats that have it there. */
  model: string;
  /** As received, with its query. */
  path: string;
  /** Lower-case names, including the API key's. */
  headers: Readonly<Record<string, string>>;
  body: Json;
  /** The part that a model reads; for a refused request only the model. */
  asked: ModelInput;
  startedAt: number;
  /** Time of the response headers and first byte; `null` if none was sent. */
  firstByteAt: number | null;
  /** `null` if still open. */
  endedAt: number | null;
  /** `closed`: the client left first. `cut`: this side broke the connection. */
  outcome: "open" | "completed" | "failed" | "cut" | "closed";
  /** 0 before headers were sent. */
  status: number;
  /** Tokens written to the socket so far. */
  tokensSent: number;
  inputTokens: number;
  /** The reported usage; `null` if the stream ended before. */
  reported: ReportedUsage | null;
  /** Why the provider refused it by its own rules; `null` if it did not. */
  refusal: string | null;
  /** Error of a script; the client got a 500. */
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

export type Charge = { at: number; model: string; inputTokens: number; outputTokens: number };

/**
 * The cost of each request for its caller. A reply that was cut or abandoned is charged its input
 * and the output so far, as real providers do, although no usage was reported.
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

function peak(
  requests: readonly RequestTimes[],
  until: (request: RequestTimes) => number | null,
): number {
  const edges = requests.flatMap((request) => [
    { at: request.startedAt, step: 1 },
    { at: until(request) ?? Number.POSITIVE_INFINITY, step: -1 },
  ]);
  // Ends count before starts of the same millisecond: only certain overlaps are reported.
  edges.sort((a, b) => a.at - b.at || a.step - b.step);
  let open = 0;
  let highest = 0;
  for (const { step } of edges) {
    open += step;
    highest = Math.max(highest, open);
  }
  return highest;
}
