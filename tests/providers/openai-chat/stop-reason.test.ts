import { describe, expect, it } from "vitest";
import { ProviderError } from "../../../src/providers/provider";
import { calls, decode, delta, finish, content } from "./chunks";

const reasonOf = (chunks: readonly unknown[]) => {
  const { stop } = decode(chunks);
  return stop.type === "stop" ? stop.reason : null;
};

describe("stop reasons", () => {
  const withCall = [calls({ index: 0, id: "a", name: "f", args: "{}" })];
  it.each([
    { name: "stop", given: [content("a"), finish("stop")], expected: "stop" },
    { name: "length", given: [content("a"), finish("length")], expected: "length" },
    { name: "content filter", given: [finish("content_filter")], expected: "content_filter" },
    { name: "tool calls", given: [...withCall, finish("tool_calls")], expected: "tool_calls" },
    {
      name: "the older function_call",
      given: [...withCall, finish("function_call")],
      expected: "tool_calls",
    },
    {
      name: "stop with calls",
      given: [...withCall, finish("stop")],
      expected: "tool_calls",
    },
    {
      name: "an unknown reason with calls",
      given: [...withCall, finish("unheard_of")],
      expected: "unknown",
    },
    {
      name: "length with calls, because the last call may be incomplete",
      given: [...withCall, finish("length")],
      expected: "length",
    },
    {
      name: "tool_calls without any call",
      given: [content("a"), finish("tool_calls")],
      expected: "stop",
    },
    {
      name: "an unknown reason",
      given: [content("a"), finish("unheard_of")],
      expected: "unknown",
    },
    { name: "capital letters", given: [content("a"), finish("STOP")], expected: "stop" },
    {
      name: "a reason before an empty chunk",
      given: [finish("stop"), finish(null)],
      expected: "stop",
    },
    {
      name: "a refusal",
      given: [delta({ refusal: "I can" }), delta({ refusal: "not" }), finish("stop")],
      expected: "refusal",
    },
  ])("reads $name", ({ given, expected }) => expect(reasonOf(given)).toBe(expected));

  it.each([
    ...["eos", "end_turn", "completed", "complete", "finished", "end", "done"].map((reason) => ({
      reason,
      expected: "stop",
    })),
    ...[
      "max_tokens",
      "MAX_TOKENS",
      "max_output_tokens",
      "max-output-tokens",
      "model_length",
      "model_context_window_exceeded",
      "context_length_exceeded",
      "incomplete",
      "truncated",
    ].map((reason) => ({ reason, expected: "length" })),
    ...[
      "content-filter",
      "contentFilter",
      "content_filtered",
      "content_filter_error",
      "sensitive",
      "SAFETY",
      "image_safety",
      "RECITATION",
      "prohibited_content",
      "blocklist",
      "SPII",
      "guardrail_intervened",
      "moderation",
      "blocked",
    ].map((reason) => ({ reason, expected: "content_filter" })),
    ...["unheard_of", "other", "FINISH_REASON_UNSPECIFIED"].map((reason) => ({
      reason,
      expected: "unknown",
    })),
  ])("reads $reason as $expected", ({ reason, expected }) => {
    expect(reasonOf([content("a"), finish(reason)])).toBe(expected);
    expect(reasonOf([...withCall, finish(reason)])).toBe(
      expected === "stop" ? "tool_calls" : expected,
    );
  });

  it("does not add a refusal to the answer", () => {
    expect(decode([delta({ refusal: "I cannot" }), finish("stop")])).toEqual({
      events: [],
      stop: { type: "stop", reason: "refusal", items: [], usage: null },
    });
  });

  it.each([
    { name: "no finish reason", given: [content("a")] },
    { name: "an empty finish reason", given: [content("a"), finish("")] },
    { name: "no chunks", given: [] },
    { name: "a complete call but no finish reason", given: withCall },
    { name: "finish reason error", given: [content("a"), finish("error")] },
    ...[
      "abort",
      "aborted",
      "cancelled",
      "canceled",
      "timeout",
      "time_limit",
      "network_error",
      "server_error",
      "MALFORMED_FUNCTION_CALL",
      "malformed_response",
      "unexpected_tool_call",
    ].map((reason) => ({
      name: `finish reason ${reason}`,
      given: [...withCall, finish(reason)],
    })),
  ])("treats a stream with $name as incomplete", ({ given }) => {
    expect(() => decode(given)).toThrow(
      expect.objectContaining({ failureClass: "transient", code: "stream_cut" }),
    );
    expect(() => decode(given)).toThrow(ProviderError);
  });
});
