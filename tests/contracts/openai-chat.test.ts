import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createOpenAiChat } from "../../src/providers/openai-chat";
import type { ModelEvent, ModelRequest } from "../../src/providers/provider";
import { OPENAI_CHAT, OPENAI_CHAT_THINKING } from "./openai-chat-wire";
import { describeProviderContract } from "./provider-contract";
import { endpointAt } from "../fakes/endpoint";

describeProviderContract(OPENAI_CHAT);
describeProviderContract(OPENAI_CHAT_THINKING);

describe("what the check of a conversation refuses", () => {
  const call = (id: string, text = "{}") => ({ id, type: "function", function: { name: "f", arguments: text } });
  const asked = (...calls: object[]) => ({ role: "assistant", content: null, tool_calls: calls });
  const result = (id: string) => ({ role: "tool", tool_call_id: id, content: "ok" });
  it.each([
    { name: "a call without a result", messages: [asked(call("a"))], says: /calls a have no result/ },
    { name: "a call whose result comes late", messages: [asked(call("a")), { role: "user", content: "x" }], says: /no result/ },
    { name: "a result nobody asked for", messages: [result("a")], says: /wrong place/ },
    { name: "results in another order", messages: [asked(call("a"), call("b")), result("b"), result("a")], says: /wrong place/ },
    { name: "an id twice", messages: [asked(call("a")), result("a"), asked(call("a")), result("a")], says: /missing or taken/ },
    { name: "a call without an id", messages: [asked(call(""))], says: /missing or taken/ },
    { name: "arguments that are no object", messages: [asked(call("a", "[1"))], says: /no JSON object/ },
    { name: "an empty message", messages: [{ role: "assistant", content: "" }], says: /empty message/ },
    { name: "instructions in the middle", messages: [{ role: "user" }, { role: "system" }], says: /instructions/ },
  ])("$name", ({ messages, says }) => expect(OPENAI_CHAT.acceptsHistory({ messages })).toMatch(says));
});

/** A second opinion on the wire format: a simulated provider that was not written here. */
describe("Chat Completions against a simulated provider", () => {
  const mock = new LLMock({ port: 0 });
  mock.onMessage("greet", { content: "Hello there, how are you?" });
  mock.onMessage("decide", {
    toolCalls: [
      { name: "vote", arguments: '{"agent_id":"agent1","reason":"clear"}' },
      { name: "read_file", arguments: '{"path":"a.txt"}' },
    ],
  });
  mock.onMessage("too much", { error: { message: "Rate limit reached", type: "rate_limit_error" }, status: 429 });
  beforeAll(() => mock.start());
  afterAll(() => mock.stop());

  const ask = async (text: string) => {
    const provider = createOpenAiChat(endpointAt(`${mock.url}/v1`));
    const request: ModelRequest = {
      model: "gpt-4o",
      system: "be brief",
      messages: [{ role: "user", text }],
      tools: [{ name: "vote", description: "Votes.", parameters: { type: "object", properties: {} } }],
      toolChoice: "auto",
      maxOutputTokens: 50,
      params: {},
      hostedTools: [],
      continues: false,
    };
    const events: ModelEvent[] = [];
    for await (const event of provider.stream(request, new AbortController().signal)) events.push(event);
    return events;
  };

  it("streams a text with usage", async () => {
    const events = await ask("greet");
    expect(events.filter((event) => event.type === "text").length).toBeGreaterThan(1);
    expect(events.at(-1)).toMatchObject({
      type: "stop",
      reason: "stop",
      items: [{ type: "text", text: "Hello there, how are you?" }],
      usage: { output_tokens: expect.any(Number) },
    });
  });

  it("reads several calls", async () => {
    const events = await ask("decide");
    expect(events.at(-1)).toMatchObject({
      reason: "tool_calls",
      items: [
        { type: "tool_call", name: "vote", arguments: '{"agent_id":"agent1","reason":"clear"}' },
        { type: "tool_call", name: "read_file", arguments: '{"path":"a.txt"}' },
      ],
    });
  });

  it("classifies its rate limit", async () => {
    await expect(ask("too much")).rejects.toMatchObject({ failureClass: "transient", code: "rate_limited" });
  });
});
