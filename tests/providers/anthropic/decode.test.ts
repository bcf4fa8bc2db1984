import { describe, expect, it } from "vitest";
import { MAX_REPLY_CHARS } from "../../../src/providers/call-limits";
import { block, calls, decode, stopEvent, textBlock, start } from "./frames";

const vote = calls(1, "toolu_1", "vote", '{"agent_id":', '"agent1"}');
const itemsOf = (...frames: unknown[]) =>
  decode([start(), ...frames.flat(), stopEvent("end_turn")]).stop.items;

describe("blocks", () => {
  it.each([
    {
      name: "a text in pieces",
      frames: [textBlock(0, "Hel", "lo")],
      expected: [{ type: "text", text: "Hello" }],
    },
    {
      name: "a text that begins in the start event of its block",
      frames: [block(0, { type: "text", text: "Hi" })],
      expected: [{ type: "text", text: "Hi" }],
    },
    { name: "no text", frames: [textBlock(0)], expected: [] },
    {
      name: "thinking with its signature",
      frames: [
        block(
          0,
          { type: "thinking", thinking: "", signature: "" },
          { type: "thinking_delta", thinking: "h" },
          { type: "thinking_delta", thinking: "m" },
          { type: "signature_delta", signature: "c2ln" },
        ),
      ],
      expected: [
        { type: "reasoning", text: "hm", opaque: { type: "thinking", signature: "c2ln" } },
      ],
    },
    {
      name: "hidden thinking",
      frames: [
        block(
          0,
          { type: "thinking", thinking: "", signature: "" },
          { type: "signature_delta", signature: "c2ln" },
        ),
      ],
      expected: [{ type: "reasoning", text: "", opaque: { type: "thinking", signature: "c2ln" } }],
    },
    {
      name: "redacted thinking",
      frames: [block(0, { type: "redacted_thinking", data: "ZW5j" })],
      expected: [
        { type: "reasoning", text: "", opaque: { type: "redacted_thinking", data: "ZW5j" } },
      ],
    },
    {
      name: "a call without arguments",
      frames: [calls(0, "a", "vote", "")],
      expected: [{ type: "tool_call", id: "a", name: "vote", arguments: "{}" }],
    },
    {
      name: "invalid arguments, which are kept unchanged",
      frames: [calls(0, "a", "vote", '{"x":')],
      expected: [{ type: "tool_call", id: "a", name: "vote", arguments: '{"x":' }],
    },
    {
      name: "two calls with the same id, which stay separate",
      frames: [calls(0, "a", "f"), calls(1, "a", "g")],
      expected: [
        { type: "tool_call", id: "a", name: "f", arguments: "{}" },
        { type: "tool_call", id: "call00001", name: "g", arguments: "{}" },
      ],
    },
    {
      name: "an unknown block, which is ignored",
      frames: [
        block(0, { type: "hologram" }, { type: "text_delta", text: "x" }),
        textBlock(1, "ok"),
      ],
      expected: [{ type: "text", text: "ok" }],
    },
    {
      name: "a delta of another type, which is ignored",
      frames: [
        block(0, { type: "text", text: "" }, { type: "input_json_delta", partial_json: "x" }),
      ],
      expected: [],
    },
  ])("reads $name", ({ frames, expected }) => expect(itemsOf(...frames)).toEqual(expected));

  it("each delta is yielded on arrival, with the index of its call", () => {
    const frames = [
      start(),
      ...textBlock(0, "a"),
      ...vote,
      ...calls(2, "b", "read_file", "{}"),
      stopEvent("tool_use"),
    ];
    expect(decode(frames).events).toEqual([
      { type: "text", text: "a" },
      { type: "tool_arguments", index: 0, name: "vote", id: "toolu_1", text: '{"agent_id":' },
      { type: "tool_arguments", index: 0, name: "vote", id: "toolu_1", text: '"agent1"}' },
      { type: "tool_arguments", index: 1, name: "read_file", id: "b", text: "{}" },
    ]);
  });

  it("the order of the blocks is kept", () => {
    expect(itemsOf(vote, textBlock(2, "then"), calls(3, "b", "f")).map(({ type }) => type)).toEqual(
      ["tool_call", "text", "tool_call"],
    );
  });

  it("an id of the conversation is never used again", () => {
    const { stop } = decode([start(), ...vote, stopEvent("tool_use")], [], ["toolu_1"]);
    expect(stop.items).toMatchObject([
      { type: "tool_call", id: expect.not.stringMatching("toolu_1") },
    ]);
  });

  it("an id that the API would refuse later is replaced", () => {
    expect(itemsOf(calls(0, "functions.f:0", "f"))).toMatchObject([
      { type: "tool_call", id: "call00000" },
    ]);
  });

  it("a reply that is not streamed is read completely", () => {
    const content = [
      { type: "thinking", thinking: "hm", signature: "c2ln" },
      { type: "text", text: "ok" },
      { type: "tool_use", id: "a", name: "vote", input: { agent_id: "agent1" } },
    ];
    const { stop } = decode([
      start({ content, stop_reason: "tool_use", usage: { input_tokens: 3, output_tokens: 4 } }),
    ]);
    expect(stop).toMatchObject({
      reason: "tool_calls",
      items: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "ok" },
        { type: "tool_call", arguments: '{"agent_id":"agent1"}' },
      ],
      usage: { input_tokens: 3, output_tokens: 4 },
    });
  });

  it("a message that starts twice is read once", () => {
    const whole = start({ content: [{ type: "text", text: "ok" }] });
    expect(decode([whole, whole, stopEvent("end_turn")]).stop.items).toEqual([
      { type: "text", text: "ok" },
    ]);
  });

  it.each([
    {
      name: "in texts",
      frames: Array.from({ length: 5 }, () => textBlock(0, "x".repeat(1_000_000))),
    },
    {
      name: "in signatures",
      frames: [
        block(
          0,
          { type: "thinking" },
          { type: "signature_delta", signature: "x".repeat(MAX_REPLY_CHARS) },
        ),
      ],
    },
    {
      name: "in empty calls",
      frames: Array.from({ length: 3_000 }, (_, n) => calls(n, `a${n}`, "f")),
    },
    {
      name: "in results",
      frames: [block(0, { type: "web_search_tool_result", content: "x".repeat(MAX_REPLY_CHARS) })],
    },
  ])("fails a reply of excessive size $name", ({ frames }) => {
    expect(() => itemsOf(...frames)).toThrow(
      expect.objectContaining({ failureClass: "transient", code: "bad_response" }),
    );
  });
});

describe("the end", () => {
  it.each([
    { name: "end_turn", expected: "stop" },
    { name: "stop_sequence", expected: "stop" },
    { name: "tool_use", expected: "stop" },
    { name: "max_tokens", expected: "length" },
    { name: "model_context_window_exceeded", expected: "length" },
    { name: "refusal", expected: "refusal" },
    { name: "pause_turn", expected: "length" },
    { name: "unheard_of", expected: "unknown" },
  ])("reads $name without calls as $expected", ({ name, expected }) => {
    expect(decode([start(), ...textBlock(0, "x"), stopEvent(name)]).stop.reason).toBe(expected);
  });

  it.each([
    { name: "end_turn", expected: "tool_calls" },
    { name: "stop_sequence", expected: "tool_calls" },
    { name: "tool_use", expected: "tool_calls" },
    { name: "pause_turn", expected: "tool_calls" },
    { name: "max_tokens", expected: "length" },
    { name: "refusal", expected: "refusal" },
    { name: "unheard_of", expected: "unknown" },
  ])("keeps the calls of a reply that ends with $name", ({ name, expected }) => {
    const { stop } = decode([start(), ...vote, stopEvent(name)]);
    expect(stop.reason).toBe(expected);
    expect(stop.items).toEqual([
      { type: "tool_call", id: "toolu_1", name: "vote", arguments: '{"agent_id":"agent1"}' },
    ]);
  });

  it.each([
    { name: "no events", frames: [] },
    { name: "a message that only starts", frames: [start()] },
    { name: "a complete call, but no stop reason", frames: [start(), ...vote] },
    {
      name: "a stop reason that is null",
      frames: [start(), ...textBlock(0, "x"), stopEvent(null)],
    },
    {
      name: "a stop without a reason",
      frames: [start(), ...textBlock(0, "x"), { type: "message_stop" }],
    },
    {
      name: "a stop reason in the middle of a block",
      frames: [start(), ...vote.slice(0, 2), stopEvent("tool_use")],
    },
    {
      name: "an open block whose message started after it",
      frames: [...vote.slice(0, 2), start(), stopEvent("tool_use")],
    },
    {
      name: "a block that starts after the stop reason",
      frames: [start(), stopEvent("tool_use"), ...vote.slice(0, 2)],
    },
  ])("treats $name as incomplete", ({ frames }) => {
    expect(() => decode(frames)).toThrow(
      expect.objectContaining({ failureClass: "transient", code: "stream_cut" }),
    );
  });

  it.each([
    { name: "another block", frames: textBlock(1, "y") },
    { name: "a block that only starts", frames: vote.slice(0, 1) },
    { name: "another stop reason", frames: [stopEvent("max_tokens")] },
    {
      name: "the complete message again",
      frames: [start(), ...textBlock(0, "x"), stopEvent("end_turn"), { type: "message_stop" }],
    },
  ])("is message_stop: $name after it does not count", ({ frames }) => {
    const { stop } = decode([
      start(),
      ...textBlock(0, "x"),
      stopEvent("end_turn"),
      { type: "message_stop" },
      ...frames,
    ]);
    expect(stop).toMatchObject({ reason: "stop", items: [{ type: "text", text: "x" }] });
  });

  it("is not reached by a message_stop before the stop reason", () => {
    expect(
      decode([start(), ...textBlock(0, "x"), { type: "message_stop" }, stopEvent("end_turn")]).stop
        .reason,
    ).toBe("stop");
  });

  it("needs no message_stop", () => {
    expect(decode([start(), ...textBlock(0, "x"), stopEvent("end_turn")]).stop.reason).toBe("stop");
  });
});

it.each([
  null,
  42,
  "x",
  [],
  {},
  { type: "content_block_delta", index: 7 },
  { type: "content_block_start" },
  { type: "message_delta" },
])("ignores %j", (frame) =>
  expect(() =>
    decode([
      start(),
      frame,
      ...textBlock(0, "x"),
      { type: "content_block_stop" },
      stopEvent("end_turn"),
    ]),
  ).not.toThrow(),
);
