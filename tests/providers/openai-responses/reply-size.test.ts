import { expect, it } from "vitest";
import { MAX_REPLY_CHARS } from "../../../src/providers/call-limits";
import { createDecoder } from "../../../src/providers/openai-responses/decode";

const PIECE = "x".repeat(64 * 1024);
const call = { type: "function_call", name: "vote", arguments: "" };

it.each([
  { name: "text", event: { type: "response.output_text.delta", delta: PIECE } },
  { name: "reasoning", event: { type: "response.reasoning_text.delta", delta: PIECE } },
  {
    name: "arguments",
    event: { type: "response.function_call_arguments.delta", output_index: 0, delta: PIECE },
  },
  {
    name: "code",
    event: { type: "response.code_interpreter_call_code.delta", output_index: 9, delta: PIECE },
  },
  {
    name: "empty calls",
    event: { type: "response.output_item.added", output_index: 1, item: call },
  },
  {
    name: "finished items",
    event: {
      type: "response.output_item.done",
      output_index: 0,
      item: { ...call, arguments: PIECE },
    },
  },
])("an endless reply of $name is refused before the memory is full", ({ event }) => {
  const decoder = createDecoder({ takenIds: new Set(), secrets: [], yieldsPoints: false });
  decoder.push({ type: "response.output_item.added", output_index: 0, item: call });
  const endless = () => {
    for (let n = 0; n <= MAX_REPLY_CHARS / 2_048; n += 1) decoder.push(event);
  };
  expect(endless).toThrow(
    expect.objectContaining({ failureClass: "transient", code: "bad_response" }),
  );
});

it("images from code are not counted, because they are not stored", () => {
  const decoder = createDecoder({ takenIds: new Set(), secrets: [], yieldsPoints: false });
  const outputs = [{ type: "image", url: `data:image/png;base64,${PIECE}` }];
  const event = {
    type: "response.output_item.done",
    output_index: 0,
    item: { type: "code_interpreter_call", code: "", outputs },
  };
  for (let n = 0; n < 100; n += 1) decoder.push(event);
  expect(decoder.isOver()).toBe(false);
});
