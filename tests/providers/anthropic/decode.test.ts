import { describe, expect, it } from "vitest";
import { MAX_REPLY_CHARS } from "../../../src/providers/call-limits";
import { block, calls, decode, ends, says, start } from "./frames";

const vote = calls(1, "toolu_1", "vote", '{"agent_id":', '"agent1"}');
const itemsOf = (...frames: unknown[]) =>
  decode([start(), ...frames.flat(), ends("end_turn")]).stop.items;

describe("blocks", () => {
  it.each([
    {
      name: "a text in pieces",
      frames: [says(0, "Hel", "lo")],
      gives: [{ type: "text", text: "Hello" }],
    },
    {
      name: "a text that starts with its block",
      frames: [block(0, { type: "text", text: "Hi" })],
      gives: [{ type: "text", text: "Hi" }],
    },
    { name: "no text", frames: [says(0)], gives: [] },
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
      gives: [{ type: "reasoning", text: "hm", opaque: { type: "thinking", signature: "c2ln" } }],
    },
    {
      name: "thinking that is hidden",
      frames: [
        block(
          0,
          { type: "thinking", thinking: "", signature: "" },
          { type: "signature_delta", signature: "c2ln" },
        ),
      ],
      gives: [{ type: "reasoning", text: "", opaque: { type: "thinking", signature: "c2ln" } }],
    },
    {
      name: "redacted thinking",
      frames: [block(0, { type: "redacted_thinking", data: "ZW5j" })],
      gives: [{ type: "reasoning", text: "", opaque: { type: "redacted_thinking", data: "ZW5j" } }],
    },
    {
      name: "a call without arguments",
      frames: [calls(0, "a", "vote", "")],
      gives: [{ type: "tool_call", id: "a", name: "vote", arguments: "{}" }],
    },
    {
      name: "broken arguments unchanged",
      frames: [calls(0, "a", "vote", '{"x":')],
      gives: [{ type: "tool_call", id: "a", name: "vote", arguments: '{"x":' }],
    },
    {
      name: "two calls with the same id, separately",
      frames: [calls(0, "a", "f"), calls(1, "a", "g")],
      gives: [
        { type: "tool_call", id: "a", name: "f", arguments: "{}" },
        { type: "tool_call", id: "call00001", name: "g", arguments: "{}" },
      ],
    },
    {
      name: "no part of an unknown block",
      frames: [block(0, { type: "hologram" }, { type: "text_delta", text: "x" }), says(1, "ok")],
      gives: [{ type: "text", text: "ok" }],
    },
    {
      name: "no part of a delta of another kind",
      frames: [
        block(0, { type: "text", text: "" }, { type: "input_json_delta", partial_json: "x" }),
      ],
      gives: [],
    },
  ])("reads $name", ({ frames, gives }) => expect(itemsOf(...frames)).toEqual(gives));

  it("yields each delta on arrival, with the index of its call", () => {
    const frames = [
      start(),
      ...says(0, "a"),
      ...vote,
      ...calls(2, "b", "read_file", "{}"),
      ends("tool_use"),
    ];
    expect(decode(frames).events).toEqual([
      { type: "text", text: "a" },
      { type: "tool_arguments", index: 0, name: "vote", id: "toolu_1", text: '{"agent_id":' },
      { type: "tool_arguments", index: 0, name: "vote", id: "toolu_1", text: '"agent1"}' },
      { type: "tool_arguments", index: 1, name: "read_file", id: "b", text: "{}" },
    ]);
  });

  it("keeps the order of the blocks", () => {
    expect(itemsOf(vote, says(2, "then"), calls(3, "b", "f")).map(({ type }) => type)).toEqual([
      "tool_call",
      "text",
      "tool_call",
    ]);
  });

  it("never reuses an id of the conversation", () => {
    const { stop } = decode([start(), ...vote, ends("tool_use")], [], ["toolu_1"]);
    expect(stop.items).toMatchObject([
      { type: "tool_call", id: expect.not.stringMatching("toolu_1") },
    ]);
  });

  it("replaces an id that the API would not accept back", () => {
    expect(itemsOf(calls(0, "functions.f:0", "f"))).toMatchObject([
      { type: "tool_call", id: "call00000" },
    ]);
  });

  it("is read whole if a server does not stream", () => {
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

  it("reads a message that starts twice once", () => {
    const whole = start({ content: [{ type: "text", text: "ok" }] });
    expect(decode([whole, whole, ends("end_turn")]).stop.items).toEqual([
      { type: "text", text: "ok" },
    ]);
  });

  it.each([
    { name: "in texts", frames: Array.from({ length: 5 }, () => says(0, "x".repeat(1_000_000))) },
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
    { name: "end_turn", gives: "stop" },
    { name: "stop_sequence", gives: "stop" },
    { name: "tool_use", gives: "stop" },
    { name: "max_tokens", gives: "length" },
    { name: "model_context_window_exceeded", gives: "length" },
    { name: "refusal", gives: "refusal" },
    { name: "pause_turn", gives: "length" },
    { name: "whatever", gives: "unknown" },
  ])("reads $name without calls as $gives", ({ name, gives }) => {
    expect(decode([start(), ...says(0, "x"), ends(name)]).stop.reason).toBe(gives);
  });

  it.each([
    { name: "end_turn", gives: "tool_calls" },
    { name: "stop_sequence", gives: "tool_calls" },
    { name: "tool_use", gives: "tool_calls" },
    { name: "pause_turn", gives: "tool_calls" },
    { name: "max_tokens", gives: "length" },
    { name: "refusal", gives: "refusal" },
    { name: "whatever", gives: "unknown" },
  ])("keeps the calls under $name", ({ name, gives }) => {
    const { stop } = decode([start(), ...vote, ends(name)]);
    expect(stop.reason).toBe(gives);
    expect(stop.items).toEqual([
      { type: "tool_call", id: "toolu_1", name: "vote", arguments: '{"agent_id":"agent1"}' },
    ]);
  });

  it.each([
    { name: "nothing at all", frames: [] },
    { name: "a message that only starts", frames: [start()] },
    { name: "a whole call, but no stop reason", frames: [start(), ...vote] },
    { name: "a stop reason that is null", frames: [start(), ...says(0, "x"), ends(null)] },
    {
      name: "a stop without a reason",
      frames: [start(), ...says(0, "x"), { type: "message_stop" }],
    },
    {
      name: "a stop reason in the middle of a block",
      frames: [start(), ...vote.slice(0, 2), ends("tool_use")],
    },
    {
      name: "an open block whose message started after it",
      frames: [...vote.slice(0, 2), start(), ends("tool_use")],
    },
    {
      name: "a block that starts after the stop reason",
      frames: [start(), ends("tool_use"), ...vote.slice(0, 2)],
    },
  ])("treats $name as cut", ({ frames }) => {
    expect(() => decode(frames)).toThrow(
      expect.objectContaining({ failureClass: "transient", code: "stream_cut" }),
    );
  });

  it.each([
    { name: "another block", frames: says(1, "y") },
    { name: "a block that only starts", frames: vote.slice(0, 1) },
    { name: "another stop reason", frames: [ends("max_tokens")] },
    {
      name: "the whole message again",
      frames: [start(), ...says(0, "x"), ends("end_turn"), { type: "message_stop" }],
    },
  ])("is message_stop: $name after it does not count", ({ frames }) => {
    const { stop } = decode([
      start(),
      ...says(0, "x"),
      ends("end_turn"),
      { type: "message_stop" },
      ...frames,
    ]);
    expect(stop).toMatchObject({ reason: "stop", items: [{ type: "text", text: "x" }] });
  });

  it("is not a message_stop before the stop reason", () => {
    expect(
      decode([start(), ...says(0, "x"), { type: "message_stop" }, ends("end_turn")]).stop.reason,
    ).toBe("stop");
  });

  it("needs no message_stop", () => {
    expect(decode([start(), ...says(0, "x"), ends("end_turn")]).stop.reason).toBe("stop");
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
    decode([start(), frame, ...says(0, "x"), { type: "content_block_stop" }, ends("end_turn")]),
  ).not.toThrow(),
);
