import { afterAll, beforeAll, expect, it } from "vitest";
import type { Format } from "../../../simulated/providers/dialect";
import { answersThenVotes } from "../../../simulated/providers/scripts";
import {
  type SimulatedProviders,
  startSimulatedProviders,
} from "../../../simulated/providers/server";

/** Hosts that accept additional fields in OpenAI's formats. Each has its own address. */

let providers: SimulatedProviders;

beforeAll(async () => {
  providers = await startSimulatedProviders({
    models: { some: answersThenVotes({ answer: "42." }) },
  });
});
afterAll(() => providers.close());

/** The path and the question of a request in each format. */
const REQUESTS = {
  "openai-chat": ["/chat/completions", { messages: [{ role: "user", content: "Hi!" }] }],
  "openai-responses": ["/responses", { input: [{ role: "user", content: "Hi!" }] }],
} as const;

async function ask(format: keyof typeof REQUESTS, base: string, fields: object): Promise<number> {
  const [path, question] = REQUESTS[format];
  const body = JSON.stringify({ model: "some", stream: true, ...question, ...fields });
  const headers = { "content-type": "application/json", authorization: "Bearer any" };
  const response = await fetch(base + path, { method: "POST", headers, body });
  await response.text();
  return response.status;
}

it.each<{ host: string; format: keyof typeof REQUESTS & Format; fields: object; status: number }>([
  {
    host: "vllm",
    format: "openai-chat",
    fields: { top_k: 50, chat_template_kwargs: { enable_thinking: true } },
    status: 200,
  },
  {
    host: "sglang",
    format: "openai-chat",
    fields: { chat_template_kwargs: { enable_thinking: true } },
    status: 200,
  },
  { host: "xai", format: "openai-responses", fields: { max_turns: 3 }, status: 200 },
  { host: "azure_openai", format: "openai-chat", fields: {}, status: 200 },
  { host: "openai", format: "openai-chat", fields: { top_k: 50 }, status: 400 },
  { host: "openai", format: "openai-responses", fields: { max_turns: 3 }, status: 400 },
  { host: "vllm", format: "openai-chat", fields: { enable_web_search: true }, status: 400 },
])(
  "$host responds to a $format request with the fields $fields with $status",
  async ({ host, format, fields, status }) => {
    expect(await ask(format, providers.baseUrlAs(host, format), fields)).toBe(status);
  },
);

it("the API of Azure has another path than the API of OpenAI", async () => {
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
