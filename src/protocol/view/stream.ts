import type { DeltaItem } from "../events";
import type { AgentView, StreamedText, StreamView } from "./types";

/**
 * How much of a running call's text a view keeps, in UTF-16 code units. Whoever wants all of it reads the deltas; the final
 * text comes whole with its own event.
 */
export const STREAM_TAIL = 16 * 1024;

/** The stream of a call that has begun; what an earlier try wrote is superseded. */
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

/** Adds a piece to its call's stream; pieces of calls that are no longer the agent's latest are dropped. */
export function appendDelta(agent: AgentView, item: DeltaItem): void {
  const { stream } = agent;
  if (!stream || stream.call !== item.call) return;
  stream.latest = item.kind;
  stream.tool = item.name ?? null;
  const source = `${item.tool_index ?? ""} ${item.name ?? ""}`;
  // Offsets count within one tool call: what another one streams is another text, shown from here on.
  if ((stream.shown[item.kind] ?? source) !== source)
    stream[item.kind] = { text: "", length: item.offset };
  stream.shown[item.kind] = source;
  append(stream[item.kind], item);
}

/** Only the new part of a piece that overlaps is added. The tail is cut seldom, so that a piece costs its own length. */
function append(streamed: StreamedText, { offset, text }: DeltaItem): void {
  const end = offset + text.length;
  if (end <= streamed.length) return;
  streamed.text += text.slice(Math.max(0, streamed.length - offset));
  streamed.length = end;
  if (streamed.text.length > 2 * STREAM_TAIL) streamed.text = tail(streamed.text);
}

/** Never begins with the second half of a surrogate pair. */
function tail(text: string): string {
  const kept = text.slice(-STREAM_TAIL);
  const first = kept.charCodeAt(0);
  return first >= 0xdc00 && first <= 0xdfff ? kept.slice(1) : kept;
}
