import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAnthropic } from "../../../src/providers/anthropic";
import type { ModelRequest, ProviderOptions } from "../../../src/providers/provider";
import { ANTHROPIC } from "../../contracts/anthropic-wire";
import { endpointAt } from "../../fakes/endpoint";
import { request } from "./requests";

/** Tests the URLs and headers of requests. */

async function sent(
  baseUrl: string,
  options: Partial<ProviderOptions> = {},
  change: Partial<ModelRequest> = {},
) {
  const seen: { url: string; headers: Record<string, string> }[] = [];
  const fetch = async (url: unknown, init?: RequestInit) => {
    seen.push({ url: String(url), headers: Object.fromEntries(new Headers(init?.headers)) });
    const text = ANTHROPIC.encode({ text: ["x"], stop: "stop" }).join("");
    return new Response(text, { headers: { "content-type": "text/event-stream" } });
  };
  const stream = createAnthropic(endpointAt(baseUrl, { ...options, fetch })).stream(
    request(change),
    new AbortController().signal,
  );
  for await (const _ of stream);
  expect(seen).toHaveLength(1);
  return seen[0];
}

it.each([
  { base: "https://api.anthropic.com", url: "https://api.anthropic.com/v1/messages" },
  { base: "https://api.anthropic.com/", url: "https://api.anthropic.com/v1/messages" },
  { base: "https://api.anthropic.com/v1", url: "https://api.anthropic.com/v1/messages" },
  {
    base: "https://proxy.example/anthropic/v1/",
    url: "https://proxy.example/anthropic/v1/messages",
  },
])("$base is requested at $url", async ({ base, url }) =>
  expect((await sent(base))?.url).toBe(url),
);

describe("headers", () => {
  const ENVIRONMENT = {
    ANTHROPIC_API_KEY: "leak-key",
    ANTHROPIC_AUTH_TOKEN: "leak-token",
    ANTHROPIC_BASE_URL: "https://leak.example",
    ANTHROPIC_CUSTOM_HEADERS:
      "x-leak: yes\nanthropic-beta: leak\nuser-agent: leak\nx-api-key: leak\nanthropic-version: leak",
    ANTHROPIC_LOG: "debug",
    ANTHROPIC_PROFILE: "leak",
    ANTHROPIC_WEBHOOK_SIGNING_KEY: "leak",
    ANTHROPIC_OPEN_TELEMETRY: "true",
  };
  beforeEach(() => void Object.assign(process.env, ENVIRONMENT));
  afterEach(() => {
    for (const name of Object.keys(ENVIRONMENT)) delete process.env[name];
  });

  const ORDINARY = {
    accept: "application/json",
    "anthropic-version": "2023-06-01",
    "content-type": "application/json",
    "user-agent": expect.stringMatching(/^massgen-edge/),
    "x-api-key": "k",
  };
  const BASE = "https://api.anthropic.com";

  it("are only these, with any environment variables", async () => {
    expect((await sent(BASE))?.headers).toEqual(ORDINARY);
  });

  it("contain the betas of the config and of the service", async () => {
    const { headers } =
      (await sent(
        BASE,
        {},
        { model: "claude-opus-5-5", params: { betas: ["files-api-2025-04-14"] } },
      )) ?? {};
    expect(headers).toEqual({
      ...ORDINARY,
      "anthropic-beta": "files-api-2025-04-14,thinking-binding-controls-2026-08-01",
    });
  });

  it("contain another version if the endpoint requires it", async () => {
    expect((await sent(BASE, { apiVersion: "2026-10-21" }))?.headers).toMatchObject({
      "anthropic-version": "2026-10-21",
    });
  });

  it("contain no key if the endpoint requires none", async () => {
    const { "x-api-key": _, ...keyless } = ORDINARY;
    expect((await sent("https://proxy.example", { apiKey: "" }))?.headers).toEqual(keyless);
  });
});
