import { describe, expect, it } from "vitest";
import { hostById } from "../../../src/providers/hosts";
import { createOpenAiChat } from "../../../src/providers/openai-chat";
import type { ModelRequest, ProviderOptions } from "../../../src/providers/provider";
import { collect, FULL, itemsOf, REQUEST } from "../../contracts/contract-support";
import { OPENAI_CHAT } from "../../contracts/openai-chat-wire";
import type { Reply } from "../../contracts/wire";
import { endpointAt } from "../../fakes/endpoint";
import { sentText } from "../sent-body";

const CALLS_ONLY: Reply = { calls: FULL.calls ?? [], stop: "tool_calls" };
const ORIGIN = "https://ours.openai.azure.com";

async function ask(
  options: Partial<ProviderOptions>,
  change: Partial<ModelRequest> = {},
  frames = OPENAI_CHAT.encode(FULL),
) {
  const sent: { url: string; headers: Headers; body: Record<string, unknown> }[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const body = JSON.parse(sentText(init?.body));
    sent.push({ url: String(input), headers: new Headers(init?.headers), body });
    return new Response(frames.join(""), { headers: { "content-type": "text/event-stream" } });
  };
  const provider = createOpenAiChat(
    endpointAt(`${ORIGIN}/openai`, {
      fetch,
      apiKey: "k-123456",
      host: hostById("azure_openai"),
      ...options,
    }),
  );
  const { events, error } = await collect(
    provider.stream({ ...REQUEST, ...change }, new AbortController().signal),
  );
  return { events, error, sent: sent[0] };
}

describe("a custom resource", () => {
  it.each([
    {
      name: "the current API",
      options: { baseUrl: `${ORIGIN}/openai/v1` },
      model: "our-gpt",
      url: `${ORIGIN}/openai/v1/chat/completions`,
    },
    {
      name: "a dated version, with the deployment in the path",
      options: { apiVersion: "2024-12-01-preview" },
      model: "our-gpt",
      url: `${ORIGIN}/openai/deployments/our-gpt/chat/completions?api-version=2024-12-01-preview`,
    },
    {
      name: "a deployment with characters that have a meaning in a path",
      options: { apiVersion: "2024-12-01-preview" },
      model: "a/b?c",
      url: `${ORIGIN}/openai/deployments/a%2Fb%3Fc/chat/completions?api-version=2024-12-01-preview`,
    },
  ])("is requested at the address of $name", async ({ options, model, url }) => {
    const { sent } = await ask(options, { model });
    expect(sent?.url).toBe(url);
    expect(sent?.headers.get("api-key")).toBe("k-123456");
    expect(sent?.headers.get("authorization")).toBeNull();
  });

  it("gets the parameters of the config", async () => {
    const { sent } = await ask({}, { params: { temperature: 0.2, top_p: 0.9 } });
    expect(sent?.body).toMatchObject({ temperature: 0.2, top_p: 0.9 });
  });

  it("gets no tool choice without tools", async () => {
    const { sent } = await ask({}, { tools: [] });
    expect(sent?.body).not.toHaveProperty("tool_choice");
    expect(sent?.body).not.toHaveProperty("tools");
  });

  it("returns streamed arguments as calls, and no part of them as text", async () => {
    const { events } = await ask({}, {}, OPENAI_CHAT.encode(CALLS_ONLY));
    expect(events.some(({ type }) => type === "text")).toBe(false);
    expect(events.at(-1)).toMatchObject({ reason: "tool_calls", items: itemsOf(CALLS_ONLY) });
  });

  it("may start with the filter results of the prompt", async () => {
    const verdict = {
      prompt_index: 0,
      content_filter_results: { hate: { filtered: false, severity: "safe" } },
    };
    const first = `data: ${JSON.stringify({ choices: [], prompt_filter_results: [verdict] })}\n\n`;
    const { events, error } = await ask({}, {}, [first, ...OPENAI_CHAT.encode(FULL)]);
    expect(error).toBeUndefined();
    expect(events.at(-1)).toMatchObject({ items: itemsOf(FULL) });
  });

  it("may filter the model's text", async () => {
    const { events } = await ask(
      {},
      {},
      OPENAI_CHAT.encode({ text: ["It begins"], stop: "content_filter" }),
    );
    expect(events.at(-1)).toMatchObject({
      reason: "content_filter",
      items: [{ type: "text", text: "It begins" }],
    });
  });
});
