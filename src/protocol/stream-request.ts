/**
 * How the API requests an event stream from a session's Durable Object, and the result codes of the
 * response.
 */

/** Response header with a `StreamCode`. The API maps the code to an HTTP status. */
export const STREAM_CODE_HEADER = "x-stream-code";
/**
 * `open`: the response contains the stream. `over`: the turn has ended and has no further events.
 * Other codes: why the request is refused.
 */
export type StreamCode =
  | "open"
  | "over"
  | "session_not_found"
  | "turn_not_found"
  | "event_id_ahead"
  | "too_many_readers";

/**
 * `after`: sequence number of the last event that the reader has; 0 means none. `turn`: number of
 * the turn to stream; `null` means the whole session. `deltas`: whether to send `stream.delta`.
 */
export type StreamRequest = { after: number; turn: number | null; deltas: boolean };

/** Encodes a request as a URL; `parseStreamUrl` decodes it. */
export function streamUrl(request: StreamRequest): string {
  const url = new URL("https://session/stream");
  url.searchParams.set("after", String(request.after));
  url.searchParams.set("deltas", String(request.deltas));
  if (request.turn !== null) url.searchParams.set("turn", String(request.turn));
  return url.toString();
}

/** Decodes a URL of `streamUrl`. */
export function parseStreamUrl(url: string): StreamRequest {
  const { searchParams } = new URL(url);
  const turn = searchParams.get("turn");
  return {
    after: Number(searchParams.get("after")),
    turn: turn === null ? null : Number(turn),
    deltas: searchParams.get("deltas") !== "false",
  };
}
