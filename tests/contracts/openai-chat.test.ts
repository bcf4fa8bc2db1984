import { describe, expect, it } from "vitest";
import { OPENAI_CHAT, OPENAI_CHAT_THINKING } from "./openai-chat-wire";
import { describeProviderContract } from "./provider-contract";
import { describeAgainstSimulation } from "./simulated-contract";

describeProviderContract(OPENAI_CHAT);
describeProviderContract(OPENAI_CHAT_THINKING);
describeAgainstSimulation(OPENAI_CHAT, { model: "gpt-4o", counts: true });

describe("the check of a conversation refuses", () => {
  const call = (id: string, text = "{}") => ({
    id,
    type: "function",
    function: { name: "f", arguments: text },
  });
  const asked = (...calls: object[]) => ({ role: "assistant", content: null, tool_calls: calls });
  const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "ok" });
  it.each([
    {
      name: "a call without a result",
      messages: [asked(call("a"))],
      says: /calls a have no result/,
    },
    {
      name: "a call with a late result",
      messages: [asked(call("a")), { role: "user", content: "x" }],
      says: /no result/,
    },
    { name: "a result without a call", messages: [result("a")], says: /wrong place/ },
    {
      name: "results in another order",
      messages: [asked(call("a"), call("b")), result("b"), result("a")],
      says: /wrong place/,
    },
    {
      name: "a repeated id",
      messages: [asked(call("a")), result("a"), asked(call("a")), result("a")],
      says: /missing or taken/,
    },
    { name: "a call without an id", messages: [asked(call(""))], says: /missing or taken/ },
    {
      name: "arguments that are not an object",
      messages: [asked(call("a", "[1"))],
      says: /no JSON object/,
    },
    {
      name: "an empty message",
      messages: [{ role: "assistant", content: "" }],
      says: /empty message/,
    },
    {
      name: "instructions in the middle",
      messages: [{ role: "user" }, { role: "system" }],
      says: /instructions/,
    },
  ])("$name", ({ messages, says }) =>
    expect(OPENAI_CHAT.acceptsHistory({ messages })).toMatch(says),
  );
});
