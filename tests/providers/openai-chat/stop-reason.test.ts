import { describe, expect, it } from "vitest";
import { ProviderError } from "../../../src/providers/provider";
import { calls, decode, delta, ends, says } from "./chunks";

const reasonOf = (chunks: readonly unknown[]) => {
  const { stop } = decode(chunks);
  return stop.type === "stop" ? stop.reason : null;
};

describe("stop reasons", () => {
  const withCall = [calls({ index: 0, id: "a", name: "f", args: "{}" })];
  it.each([
    { name: "stop", given: [says("a"), ends("stop")], gives: "stop" },
    { name: "length", given: [says("a"), ends("length")], gives: "length" },
    { name: "content filter", given: [ends("content_filter")], gives: "content_filter" },
    { name: "tool calls", given: [...withCall, ends("tool_calls")], gives: "tool_calls" },
    {
      name: "the older function_call",
      given: [...withCall, ends("function_call")],
      gives: "tool_calls",
    },
    {
      name: "stop despite calls",
      given: [...withCall, ends("stop")],
      gives: "tool_calls",
    },
    {
      name: "an unknown reason despite calls",
      given: [...withCall, ends("whatever")],
      gives: "unknown",
    },
    {
      name: "length despite calls, because the last may be cut",
      given: [...withCall, ends("length")],
      gives: "length",
    },
    { name: "tool_calls without any call", given: [says("a"), ends("tool_calls")], gives: "stop" },
    { name: "an unknown reason", given: [says("a"), ends("whatever")], gives: "unknown" },
    { name: "capital letters", given: [says("a"), ends("STOP")], gives: "stop" },
    {
      name: "a reason before an empty chunk",
      given: [ends("stop"), ends(null)],
      gives: "stop",
    },
    {
      name: "a refusal",
      given: [delta({ refusal: "I can" }), delta({ refusal: "not" }), ends("stop")],
      gives: "refusal",
    },
  ])("reads $name", ({ given, gives }) => expect(reasonOf(given)).toBe(gives));

  it.each([
    ...["eos", "end_turn", "completed", "complete", "finished", "end", "done"].map((reason) => ({
      reason,
      gives: "stop",
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
    ].map((reason) => ({ reason, gives: "length" })),
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
    ].map((reason) => ({ reason, gives: "content_filter" })),
    ...["whatever", "other", "FINISH_REASON_UNSPECIFIED"].map((reason) => ({
      reason,
      gives: "unknown",
    })),
  ])("reads $reason as $gives", ({ reason, gives }) => {
    expect(reasonOf([says("a"), ends(reason)])).toBe(gives);
    expect(reasonOf([...withCall, ends(reason)])).toBe(gives === "stop" ? "tool_calls" : gives);
  });

  it("keeps a refusal out of the answer", () => {
    expect(decode([delta({ refusal: "I cannot" }), ends("stop")])).toEqual({
      events: [],
      stop: { type: "stop", reason: "refusal", items: [], usage: null },
    });
  });

  it.each([
    { name: "no finish reason", given: [says("a")] },
    { name: "an empty finish reason", given: [says("a"), ends("")] },
    { name: "nothing at all", given: [] },
    { name: "a complete call but no finish reason", given: withCall },
    { name: "finish reason error", given: [says("a"), ends("error")] },
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
    ].map((reason) => ({ name: `finish reason ${reason}`, given: [...withCall, ends(reason)] })),
  ])("treats a stream with $name as cut", ({ given }) => {
    expect(() => decode(given)).toThrow(
      expect.objectContaining({ failureClass: "transient", code: "stream_cut" }),
    );
    expect(() => decode(given)).toThrow(ProviderError);
  });
});
