import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGemini } from "../../src/providers/gemini";
import type { ModelEvent } from "../../src/providers/provider";
import { endpointAt } from "../fakes/endpoint";
import { REQUEST } from "./contract-support";
import { GEMINI } from "./gemini-wire";
import { describeProviderContract } from "./provider-contract";

describeProviderContract(GEMINI);

/** A second opinion on the wire format: a simulated provider that was not written here. */
describe("Gemini against a simulated provider", () => {
  const mock = new LLMock({ port: 0 });
  mock.onMessage("greet", { content: "Hello there, how are you?" });
  mock.onMessage("decide", {
    toolCalls: [
      { name: "vote", arguments: '{"agent_id":"agent1","reason":"clear"}' },
      { name: "read_file", arguments: '{"path":"a.txt"}' },
    ],
  });
  mock.onMessage("too much", { error: { message: "Resource has been exhausted", type: "RESOURCE_EXHAUSTED" }, status: 429 });
  beforeAll(() => mock.start());
  afterAll(() => mock.stop());

  const ask = async (text: string) => {
    const provider = createGemini(endpointAt(mock.url));
    const request = { ...REQUEST, model: "gemini-2.5-flash", messages: [{ role: "user" as const, text }] };
    const events: ModelEvent[] = [];
    for await (const event of provider.stream(request, new AbortController().signal)) events.push(event);
    return events;
  };

  it("streams a text with usage", async () => {
    expect((await ask("greet")).at(-1)).toMatchObject({
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

  it("classifies its rate limit", async () => {
    await expect(ask("too much")).rejects.toMatchObject({ failureClass: "transient", code: "rate_limited" });
  });
});
