import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAnthropic } from "../../src/providers/anthropic";
import type { ModelEvent, ModelRequest } from "../../src/providers/provider";
import { ANTHROPIC } from "./anthropic-wire";
import { describeProviderContract } from "./provider-contract";
import { endpointAt } from "../fakes/endpoint";

describeProviderContract(ANTHROPIC);

/** A second opinion on the wire format: a simulated provider that was not written here. */
describe("Messages against a simulated provider", () => {
  const mock = new LLMock({ port: 0 });
  mock.onMessage("greet", { content: "Hello there, how are you?" });
  mock.onMessage("decide", {
    toolCalls: [
      { name: "vote", arguments: '{"agent_id":"agent1","reason":"clear"}' },
      { name: "read_file", arguments: '{"path":"a.txt"}' },
    ],
  });
  mock.onMessage("think", { content: "Four.", reasoning: "Two and two." });
  mock.onMessage("too much", { error: { message: "Rate limit reached", type: "rate_limit_error" }, status: 429 });
  beforeAll(() => mock.start());
  afterAll(() => mock.stop());

  const ask = async (text: string) => {
    const provider = createAnthropic(endpointAt(mock.url));
    const request: ModelRequest = {
      model: "claude-sonnet-4-5",
      system: "be brief",
      messages: [{ role: "user", text }],
      tools: [{ name: "vote", description: "Votes.", parameters: { type: "object", properties: {} } }],
      toolChoice: "auto",
      maxOutputTokens: 50,
      params: {},
      hostedTools: [],
      continues: true,
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
    });
  });

  it("reads several calls", async () => {
    expect((await ask("decide")).at(-1)).toMatchObject({
      reason: "tool_calls",
      items: [
        { type: "tool_call", name: "vote", arguments: '{"agent_id":"agent1","reason":"clear"}' },
        { type: "tool_call", name: "read_file", arguments: '{"path":"a.txt"}' },
      ],
    });
  });

  it("reads thinking", async () => {
    expect((await ask("think")).at(-1)).toMatchObject({
      items: [
        { type: "reasoning", text: "Two and two." },
        { type: "text", text: "Four." },
      ],
    });
  });

  it("classifies its rate limit", async () => {
    await expect(ask("too much")).rejects.toMatchObject({ failureClass: "transient", code: "rate_limited" });
  });
});
