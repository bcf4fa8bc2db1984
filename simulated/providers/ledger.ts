import { type Asked, nothingAsked } from "./asked";
import type { Format, Json } from "./dialect";
import type { ReportedUsage } from "./reply";

/**
 * What reached a simulated provider and what it charged: the outside witness for tests of budget, cancellation and
 * concurrency. Times are Unix ms of the provider's own clock.
 */
export type RecordedRequest = {
  /** In order of arrival, from 1. */
  id: number;
  format: Format;
  /** From the body, or from the path where the format has it there. */
  model: string;
  /** As it came, with its query. */
  path: string;
  /** Lower-case names; the API key is among them. */
  headers: Readonly<Record<string, string>>;
  body: Json;
  /** What of it a model reads; of a request that was refused nothing but the model. */
  asked: Asked;
  startedAt: number;
  /** Response headers and first byte; null: none was sent. */
  firstByteAt: number | null;
  /** null: still open. */
  endedAt: number | null;
  /** `closed`: the client went away first. `cut`: this side broke the connection. */
  outcome: "open" | "completed" | "failed" | "cut" | "closed";
  /** 0 before headers were sent. */
  status: number;
  /** Tokens written to the socket so far. */
  tokensSent: number;
  inputTokens: number;
  /** What the client was told; null if the stream never got that far. */
  reported: ReportedUsage | null;
  /** Why the provider refused it by its own rules, whatever its model would have said; null: it did not. */
  refusal: string | null;
  /** A script that threw; the client got a 500. */
  scriptError: string | null;
};

type Arrived = Pick<
  RecordedRequest,
  "id" | "format" | "model" | "path" | "headers" | "body" | "startedAt"
>;

/** When a request came, when its headers and first byte left, and when it was over. */
export type RequestTimes = Pick<RecordedRequest, "startedAt" | "firstByteAt" | "endedAt">;

/** The record of a request that has just come. */
export const newRecord = (arrived: Arrived): RecordedRequest => ({
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
 * What each request costs its caller. A reply that was cut or abandoned is charged its input and what was written until then,
 * as real providers do, although no usage was reported.
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

/** The most requests that were open at the same time. */
export const peakConcurrency = (requests: readonly RequestTimes[]): number =>
  peak(requests, ({ endedAt }) => endedAt);

/** The most requests that waited for their response headers at the same time. */
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
  // Ends count before starts of the same millisecond: only what certainly overlapped is reported.
  edges.sort((a, b) => a.at - b.at || a.step - b.step);
  let open = 0;
  let highest = 0;
  for (const { step } of edges) {
    open += step;
    highest = Math.max(highest, open);
  }
  return highest;
}
