import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endpointAt } from "../fakes/endpoint";
import { collect, REQUEST } from "./contract-support";
import type { Wire } from "./wire";

/**
 * What the simulation supports in this format. `thinks`: it sends reasoning. `counts`: it reports
 * usage.
 */
type Simulation = { model: string; thinks?: boolean; counts?: boolean };

/**
 * Tests an adapter against a simulated provider from another project. It checks our own
 * understanding of the wire format.
 */
export function describeAgainstSimulation(
  wire: Wire,
  { model, thinks = false, counts = false }: Simulation,
): void {
  describe(`${wire.name} against a simulated provider`, () => {
    const mock = simulated();
    beforeAll(() => mock.start());
    afterAll(() => mock.stop());

    const ask = async (text: string) => {
      const provider = wire.create(endpointAt(mock.url + wire.basePath));
      return collect(
        provider.stream(
          { ...REQUEST, model, messages: [{ role: "user", text }] },
          new AbortController().signal,
        ),
      );
    };

    it("streams a text", async () => {
      const { events } = await ask("greet");
      expect(events.filter((event) => event.type === "text").length).toBeGreaterThan(1);
      expect(events.at(-1)).toMatchObject({
        type: "stop",
        reason: "stop",
        items: [{ type: "text", text: "Hello there, how are you?" }],
        ...(counts && { usage: { output_tokens: expect.any(Number) } }),
      });
    });

    it("reads several calls", async () => {
      expect((await ask("decide")).events.at(-1)).toMatchObject({
        reason: "tool_calls",
        items: [
          { type: "tool_call", name: "vote", arguments: '{"agent_id":"agent1","reason":"clear"}' },
          { type: "tool_call", name: "read_file", arguments: '{"path":"a.txt"}' },
        ],
      });
    });

    if (thinks) {
      it("reads thinking", async () => {
        expect((await ask("think")).events.at(-1)).toMatchObject({
          items: [
            { type: "reasoning", text: "Two and two." },
            { type: "text", text: "Four." },
          ],
        });
      });
    }

    it("classifies a rate limit", async () => {
      expect((await ask("too much")).error).toMatchObject({
        failureClass: "transient",
        code: "rate_limited",
      });
    });
  });
}

function simulated(): LLMock {
  const mock = new LLMock({ port: 0 });
  mock.onMessage("greet", { content: "Hello there, how are you?" });
  mock.onMessage("decide", {
    toolCalls: [
      { name: "vote", arguments: '{"agent_id":"agent1","reason":"clear"}' },
      { name: "read_file", arguments: '{"path":"a.txt"}' },
    ],
  });
  mock.onMessage("think", { content: "Four.", reasoning: "Two and two." });
  mock.onMessage("too much", {
    error: { message: "Rate limit reached", type: "rate_limit_error" },
    status: 429,
  });
  return mock;
}
