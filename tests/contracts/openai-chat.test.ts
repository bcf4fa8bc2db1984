import { describe, expect, it } from "vitest";
import { OPENAI_CHAT, OPENAI_CHAT_THINKING } from "./openai-chat-wire";
import { describeProviderContract } from "./provider-contract";
import { describeAgainstSimulation } from "./simulated-contract";

describeProviderContract(OPENAI_CHAT);
describeProviderContract(OPENAI_CHAT_THINKING);
describeAgainstSimulation(OPENAI_CHAT, { model: "gpt-4o", counts: true });

describe("the check of a conversation rejects", () => {
  const call = (id: string, text = "{}") => ({
    id,
    type: "function",
    function: { name: "f", arguments: text },
  });
  const callMessage = (...calls: object[]) => ({
    role: "assistant",
    content: null,
    tool_calls: calls,
  });
  const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "ok" });
  it.each([
    {
      name: "a call without a result",
      messages: [callMessage(call("a"))],
      error: /calls a have no result/,
    },
    {
      name: "a call with a late result",
      messages: [callMessage(call("a")), { role: "user", content: "x" }],
      error: /no result/,
    },
    { name: "a result without a call", messages: [result("a")], error: /wrong place/ },
    {
      name: "results in another order",
      messages: [callMessage(call("a"), call("b")), result("b"), result("a")],
      error: /wrong place/,
    },
    {
      name: "a repeated id",
      messages: [callMessage(call("a")), result("a"), callMessage(call("a")), result("a")],
      error: /missing or used/,
    },
    { name: "a call without an id", messages: [callMessage(call(""))], error: /missing or used/ },
    {
      name: "arguments that are not an object",
      messages: [callMessage(call("a", "[1"))],
      error: /not a JSON object/,
    },
    {
      name: "an empty message",
      messages: [{ role: "assistant", content: "" }],
      error: /empty message/,
    },
    {
      name: "a system message in the middle",
      messages: [{ role: "user" }, { role: "system" }],
      error: /instructions/,
    },
  ])("$name", ({ messages, error }) =>
    expect(OPENAI_CHAT.acceptsHistory({ messages })).toMatch(error),
  );
});
