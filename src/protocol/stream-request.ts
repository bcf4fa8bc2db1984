/** Request of the API to a session object for an event stream, and the reply's status. */

/** Header of the object's response with a `StreamCode`. The API maps the code to a status. */
export const STREAM_CODE_HEADER = "x-stream-code";
/** `open`: the stream follows. Other codes: why there is no stream. */
export type StreamCode =
  | "open"
  | "over"
  | "session_not_found"
  | "turn_not_found"
  | "event_id_ahead"
  | "too_many_readers";

/** `after`: number of the last event that the reader has. `turn`: `null` for the whole session. */
export type StreamRequest = { after: number; turn: number | null; deltas: boolean };

/** URL of a session's stream, in the form that its object parses. */
export function streamUrl(request: StreamRequest): string {
  const url = new URL("https://session/stream");
  url.searchParams.set("after", String(request.after));
  url.searchParams.set("deltas", String(request.deltas));
  if (request.turn !== null) url.searchParams.set("turn", String(request.turn));
  return url.toString();
}

/** Inverse of `streamUrl`. */
export function parseStreamUrl(url: string): StreamRequest {
  const { searchParams } = new URL(url);
  const turn = searchParams.get("turn");
  return {
    after: Number(searchParams.get("after")),
    turn: turn === null ? null : Number(turn),
    deltas: searchParams.get("deltas") !== "false",
  };
}
