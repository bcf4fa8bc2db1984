import { createDecoder } from "../../../src/providers/anthropic/decode";
import type { ReplyItem } from "../../../src/providers/provider";

/**
 * Builders for events as the provider sends them, and a function that decodes a complete stream.
 */

export const start = (fields: object = {}) => ({
  type: "message_start",
  message: { content: [], stop_reason: null, ...fields },
});
export const block = (index: number, content: object, ...deltas: object[]) => [
  { type: "content_block_start", index, content_block: content },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
export const stopEvent = (stop_reason: string | null, more: object = {}) => ({
  type: "message_delta",
  delta: { stop_reason, ...more },
});
export const textBlock = (index: number, ...pieces: string[]) =>
  block(index, { type: "text", text: "" }, ...pieces.map((text) => ({ type: "text_delta", text })));
export const calls = (index: number, id: string, name: string, ...pieces: string[]) =>
  block(
    index,
    { type: "tool_use", id, name, input: {} },
    ...pieces.map((partial_json) => ({ type: "input_json_delta", partial_json })),
  );
export const hostedUseBlock = (index: number, id: string, name: string, ...pieces: string[]) =>
  block(
    index,
    { type: "server_tool_use", id, name, input: {} },
    ...pieces.map((partial_json) => ({ type: "input_json_delta", partial_json })),
  );

export function decode(
  frames: readonly unknown[],
  earlierItems: readonly ReplyItem[] = [],
  takenIds: string[] = [],
) {
  const decoder = createDecoder({ takenIds: new Set(takenIds), items: earlierItems });
  const events = frames.flatMap((frame) => decoder.push(frame));
  const stop = decoder.end();
  if (stop.type !== "stop") throw new Error("the decoder ends with a stop");
  return { events, stop };
}
