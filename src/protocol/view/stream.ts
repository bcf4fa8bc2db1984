import type { DeltaItem } from "../events";
import type { AgentView, StreamedText, StreamView } from "./types";

/**
 * Length of the end of a running call's text that a view keeps, in UTF-16 code units. Between two
 * cuts the text can have twice this length. Clients that need the whole text read the deltas; the
 * final text has its own event.
 */
export const STREAM_TAIL = 16 * 1024;

/**
 * The stream of a call that has just started. It replaces the stream of the agent's earlier call.
 */
export const emptyStream = (call: string): StreamView => ({
  call,
  latest: null,
  tool: null,
  shown: {},
  text: { text: "", length: 0 },
  reasoning: { text: "", length: 0 },
  tool_arguments: { text: "", length: 0 },
  hosted_tool: { text: "", length: 0 },
  final: { text: "", length: 0 },
});

/** Appends a piece to the stream of its call. Ignores pieces of earlier calls of the agent. */
export function appendDelta(agent: AgentView, item: DeltaItem): void {
  const { stream } = agent;
  if (!stream || stream.call !== item.call) return;
  stream.latest = item.kind;
  stream.tool = item.name ?? null;
  const source = `${item.tool_index ?? ""} ${item.name ?? ""}`;
  // Offsets count within one tool call, so another tool call starts a new text.
  if ((stream.shown[item.kind] ?? source) !== source)
    stream[item.kind] = { text: "", length: item.offset };
  stream.shown[item.kind] = source;
  append(stream[item.kind], item);
}

/**
 * Appends the part of a piece that is new. Cuts the text only when it reaches twice the limit, so
 * that not every piece copies the whole text.
 */
function append(streamed: StreamedText, { offset, text }: DeltaItem): void {
  const end = offset + text.length;
  if (end <= streamed.length) return;
  streamed.text += text.slice(Math.max(0, streamed.length - offset));
  streamed.length = end;
  if (streamed.text.length > 2 * STREAM_TAIL) streamed.text = tail(streamed.text);
}

/** The last `STREAM_TAIL` code units. Does not start with the second half of a surrogate pair. */
function tail(text: string): string {
  const kept = text.slice(-STREAM_TAIL);
  const first = kept.charCodeAt(0);
  return first >= 0xdc00 && first <= 0xdfff ? kept.slice(1) : kept;
}
