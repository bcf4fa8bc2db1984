import { createDecoder } from "../../../src/providers/openai-responses/decode";
import type { ResumePoint } from "../../../src/providers/provider";

/** Builders for events of a streamed response, and a decoder that reads them. */

export type Fields = Record<string, unknown>;

export const added = (item: Fields, output_index = 0) => ({
  type: "response.output_item.added",
  output_index,
  item,
});
export const done = (item: Fields, output_index = 0) => ({
  type: "response.output_item.done",
  output_index,
  item,
});
export const completed = (output: Fields[] = [], more: Fields = {}) => ({
  type: "response.completed",
  response: { status: "completed", output, ...more },
});
export const message = (text: string, annotations: Fields[] = []) => ({
  type: "message",
  content: [{ type: "output_text", text, annotations }],
});
export const call = (call_id: string, args = "{}", id = `fc_${call_id}`) => ({
  type: "function_call",
  id,
  call_id,
  name: "vote",
  arguments: args,
});

export function decode(
  events: readonly unknown[],
  options: { taken?: string[]; yieldsPoints?: boolean; from?: ResumePoint } = {},
) {
  const { taken = [], yieldsPoints = false, from } = options;
  const decoder = createDecoder({
    takenIds: new Set(taken),
    secrets: ["secret-key"],
    yieldsPoints,
    from,
  });
  const modelEvents = events.flatMap((event) => decoder.push(event));
  return { events: modelEvents, decoder, end: () => decoder.end() };
}
export const itemsOf = (events: readonly unknown[], taken: string[] = []) => {
  const stop = decode(events, { taken }).end();
  return stop.type === "stop" ? stop.items : [];
};
