import { afterAll, beforeAll, expect, it } from "vitest";
import type { Format } from "../../../simulated/providers/dialect";
import { answersThenVotes } from "../../../simulated/providers/scripts";
import {
  type SimulatedProviders,
  startSimulatedProviders,
} from "../../../simulated/providers/server";

/** Hosts that serve OpenAI's formats with extensions, each at its own address. */

let providers: SimulatedProviders;

beforeAll(async () => {
  providers = await startSimulatedProviders({
    models: { some: answersThenVotes({ answer: "42." }) },
  });
});
afterAll(() => providers.close());

const ASKS = {
  "openai-chat": ["/chat/completions", { messages: [{ role: "user", content: "Hi!" }] }],
  "openai-responses": ["/responses", { input: [{ role: "user", content: "Hi!" }] }],
} as const;

async function ask(format: keyof typeof ASKS, base: string, more: object): Promise<number> {
  const [path, question] = ASKS[format];
  const body = JSON.stringify({ model: "some", stream: true, ...question, ...more });
  const headers = { "content-type": "application/json", authorization: "Bearer any" };
  const response = await fetch(base + path, { method: "POST", headers, body });
  await response.text();
  return response.status;
}

it.each<{ host: string; format: keyof typeof ASKS & Format; takes: object; is: number }>([
  {
    host: "vllm",
    format: "openai-chat",
    takes: { top_k: 50, chat_template_kwargs: { enable_thinking: true } },
    is: 200,
  },
  {
    host: "sglang",
    format: "openai-chat",
    takes: { chat_template_kwargs: { enable_thinking: true } },
    is: 200,
  },
  { host: "xai", format: "openai-responses", takes: { max_turns: 3 }, is: 200 },
  { host: "azure_openai", format: "openai-chat", takes: {}, is: 200 },
  { host: "openai", format: "openai-chat", takes: { top_k: 50 }, is: 400 },
  { host: "openai", format: "openai-responses", takes: { max_turns: 3 }, is: 400 },
  { host: "vllm", format: "openai-chat", takes: { enable_web_search: true }, is: 400 },
])("$host accepts $takes in $format with $is", async ({ host, format, takes, is }) => {
  expect(await ask(format, providers.baseUrlAs(host, format), takes)).toBe(is);
});

it("Azure's API has a different path", async () => {
  const base = providers.baseUrlAs("azure_openai", "openai-chat");
  expect(base).toMatch(/\/openai\/v1$/);
  expect(await ask("openai-chat", base.replace("/openai/v1", "/v1"), {})).toBe(404);
  expect(
    await ask(
      "openai-chat",
      providers.baseUrlAs("vllm", "openai-chat").replace("/v1", "/openai/v1"),
      {},
    ),
  ).toBe(404);
});
