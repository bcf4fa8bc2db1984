import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createOpenAiChat } from "../../src/providers/openai-chat";
import type { ModelEvent, ModelRequest } from "../../src/providers/provider";
import { OPENAI_CHAT } from "./openai-chat-wire";
import { describeProviderContract } from "./provider-contract";
import { endpointAt } from "../fakes/endpoint";

describeProviderContract(OPENAI_CHAT);

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
