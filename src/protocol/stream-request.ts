/** How the API asks a session's object for its event stream, and what the object answers. */

/** Header of the object's stream response that says why there is no stream; the API knows what status that is. */
export const STREAM_CODE_HEADER = "x-stream-code";
/** Why there is a stream, or none. */
export type StreamCode =
  | "open"
  | "over"
  | "session_not_found"
  | "turn_not_found"
  | "event_id_ahead"
  | "too_many_readers";

/** Everything after a number, of one turn or of the session, with or without deltas. */
export type StreamRequest = { after: number; turn: number | null; deltas: boolean };

/** The address of a session's stream, as its object understands it. */
export function streamUrl(request: StreamRequest): string {
  const url = new URL("https://session/stream");
  url.searchParams.set("after", String(request.after));
  url.searchParams.set("deltas", String(request.deltas));
  if (request.turn !== null) url.searchParams.set("turn", String(request.turn));
  return url.toString();
}

/** What such an address asks for. */
export function parseStreamUrl(url: string): StreamRequest {
  const { searchParams } = new URL(url);
  const turn = searchParams.get("turn");
  return {
    after: Number(searchParams.get("after")),
    turn: turn === null ? null : Number(turn),
    deltas: searchParams.get("deltas") !== "false",
  };
}
