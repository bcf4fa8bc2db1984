import { describe, expect, it } from "vitest";
import {
  BACKEND_TYPES,
  createProvider,
  findHost,
  HOSTS,
  KEY_ORIGINS,
  mayReceiveKey,
  modelFacts,
  UNKNOWN_HOST,
  UNKNOWN_MODEL,
} from "../../src/providers/registry";
import { endpointAt } from "../fakes/endpoint";

describe("hosts", () => {
  it.each([
    { url: "https://api.openai.com/v1", id: "openai" },
    { url: "https://api.cerebras.ai/v1", id: "cerebras" },
    { url: "https://api.together.xyz/v1", id: "together" },
    { url: "https://api.fireworks.ai/inference/v1", id: "fireworks" },
    { url: "https://api.groq.com/openai/v1", id: "groq" },
    { url: "https://api.studio.nebius.ai/v1", id: "nebius" },
    { url: "https://openrouter.ai/api/v1", id: "openrouter" },
    { url: "https://api.z.ai/api/paas/v4/", id: "zai" },
    { url: "https://open.bigmodel.cn/api/paas/v4", id: "zai" },
    { url: "https://api.moonshot.cn/v1", id: "moonshot" },
    { url: "https://api.poe.com/v1", id: "poe" },
    { url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", id: "qwen" },
    { url: "https://api.x.ai/v1", id: "xai" },
    { url: "https://api.deepseek.com", id: "deepseek" },
    { url: "https://api.mistral.ai/v1", id: "mistral" },
    { url: "https://integrate.api.nvidia.com/v1", id: "nvidia" },
    { url: "https://API.OPENAI.COM./v1", id: "openai" },
    { url: "https://notopenai.com/v1", id: "custom" },
    { url: "https://api.openai.com.evil.example/v1", id: "custom" },
    { url: "https://evil.example/api.openai.com", id: "custom" },
    { url: "http://127.0.0.1:8000/v1", id: "custom" },
    { url: "not a url", id: "custom" },
  ])("$url is $id", ({ url, id }) => expect(findHost(url).id).toBe(id));

  it("have different ids, lower-case suffixes and https origins under those suffixes", () => {
    expect(new Set(HOSTS.map((host) => host.id)).size).toBe(HOSTS.length);
    for (const host of HOSTS) {
      for (const origin of host.origins) {
        expect(new URL(origin).origin).toBe(origin);
        expect(origin).toMatch(/^https:/);
        expect(findHost(origin)).toBe(host);
      }
    }
    expect(UNKNOWN_HOST.keyNames).toEqual([]);
  });
});

describe("stored keys", () => {
  it.each([
    { key: "OPENAI_API_KEY", url: "https://api.openai.com/v1", gives: true },
    { key: "KIMI_API_KEY", url: "https://api.moonshot.ai/v1", gives: true },
    { key: "OPENAI_API_KEY", url: "http://api.openai.com/v1", gives: false },
    { key: "OPENAI_API_KEY", url: "https://api.openai.com:8443/v1", gives: false },
    { key: "OPENAI_API_KEY", url: "https://api.openai.com@evil.example/v1", gives: false },
    { key: "OPENAI_API_KEY", url: "https://files.openai.com/v1", gives: false },
    { key: "OPENAI_API_KEY", url: "https://api.groq.com/openai/v1", gives: false },
    { key: "constructor", url: "https://api.openai.com/v1", gives: false },
    { key: "OPENAI_API_KEY", url: "nonsense", gives: false },
  ])("$key may go to $url: $gives", ({ key, url, gives }) => expect(mayReceiveKey(key, url)).toBe(gives));

  it("are bound to origins by name", () => {
    expect(KEY_ORIGINS["GROQ_API_KEY"]).toEqual(["https://api.groq.com"]);
  });
});

describe("models", () => {
  it.each([
    { model: "gpt-5", input: 1.25 },
    { model: "gpt-5-mini-2025-08-07", input: 0.25 },
    { model: "gpt-4o-2024-08-06", input: 2.5 },
    { model: "gpt-4o-2024-05-13", input: 5 },
    { model: "gpt-5-codex", input: undefined },
    { model: "my-gpt-5", input: undefined },
    { model: "gpt-4o-mini-2024-07-18-ft", input: undefined },
    { model: "toString", input: undefined },
  ])("$model costs $input a million", ({ model, input }) => expect(modelFacts(model).price?.input).toBe(input));

  it("nobody listed get cautious assumptions and no price", () => {
    expect(modelFacts("llama-99")).toEqual(UNKNOWN_MODEL);
    expect(UNKNOWN_MODEL).toMatchObject({ contextWindow: 128_000, maxOutputTokens: 16_384, price: null });
  });
});

describe("backend types", () => {
  it("serves Chat Completions and knows MassGen's other types by name", () => {
    expect(BACKEND_TYPES["chatcompletion"]).toMatchObject({ served: true, format: "openai-chat" });
    for (const type of ["openai", "claude", "gemini", "grok", "azure_openai", "claude_code", "ag2", "lmstudio", "vllm"]) {
      expect(BACKEND_TYPES[type]).toMatchObject({ served: false });
    }
  });

  it("makes a provider named for its host", () => {
    expect(createProvider("openai-chat", endpointAt("https://api.groq.com/openai/v1")).id).toBe("groq");
  });
});
