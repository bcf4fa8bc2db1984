import { describe, expect, it } from "vitest";
import {
  findHost,
  HOSTS,
  hostById,
  KEY_NAMES,
  keyOrigins,
  mayReceiveKey,
  UNKNOWN_HOST,
} from "../../src/providers/hosts";

const VARIABLES = {
  AZURE_OPENAI_ENDPOINT: "https://ours.openai.azure.com/",
  VLLM_BASE_URL: "http://10.0.0.5:8000/v1",
  SGLANG_BASE_URL: "no address",
};

describe("the host of a URL", () => {
  it.each([
    { url: "https://api.openai.com/v1", id: "openai" },
    { url: "https://api.anthropic.com", id: "anthropic" },
    { url: "https://generativelanguage.googleapis.com/v1beta/openai", id: "google" },
    { url: "https://ours.openai.azure.com/openai/v1", id: "azure_openai" },
    { url: "https://ours.services.ai.azure.com/openai/v1", id: "azure_openai" },
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
    { url: "https://api.cloudflare.com/client/v4/accounts/a/ai/v1", id: "workers_ai" },
    { url: "https://ollama.com/v1", id: "ollama" },
    { url: "https://API.OPENAI.COM./v1", id: "openai" },
    { url: "https://notopenai.com/v1", id: "custom" },
    { url: "https://api.openai.com.evil.example/v1", id: "custom" },
    { url: "https://evil.example/api.openai.com", id: "custom" },
    { url: "http://127.0.0.1:8000/v1", id: "custom" },
    { url: "not a url", id: "custom" },
  ])("$url is $id", ({ url, id }) => expect(findHost(url).id).toBe(id));

  it("has a unique id, and https origins that belong to it", () => {
    expect(new Set(HOSTS.map((host) => host.id)).size).toBe(HOSTS.length);
    for (const host of HOSTS) {
      for (const origin of host.origins) {
        expect(new URL(origin).origin).toBe(origin);
        expect(origin).toMatch(/^https:/);
        expect(findHost(origin)).toBe(host);
      }
    }
    expect(UNKNOWN_HOST.keyNames).toEqual([]);
    expect(hostById("unlisted")).toBe(UNKNOWN_HOST);
  });
});

describe("a stored key", () => {
  it.each([
    { key: "OPENAI_API_KEY", url: "https://api.openai.com/v1", expected: true },
    { key: "ANTHROPIC_API_KEY", url: "https://api.anthropic.com", expected: true },
    { key: "GEMINI_API_KEY", url: "https://generativelanguage.googleapis.com", expected: true },
    { key: "KIMI_API_KEY", url: "https://api.moonshot.ai/v1", expected: true },
    { key: "OPENAI_API_KEY", url: "http://api.openai.com/v1", expected: false },
    { key: "OPENAI_API_KEY", url: "https://api.openai.com:8443/v1", expected: false },
    { key: "OPENAI_API_KEY", url: "https://api.openai.com@evil.example/v1", expected: false },
    { key: "OPENAI_API_KEY", url: "https://files.openai.com/v1", expected: false },
    { key: "OPENAI_API_KEY", url: "https://api.groq.com/openai/v1", expected: false },
    { key: "GEMINI_API_KEY", url: "https://storage.googleapis.com", expected: false },
    { key: "AZURE_OPENAI_API_KEY", url: "https://ours.openai.azure.com/openai/v1", expected: true },
    {
      key: "AZURE_OPENAI_API_KEY",
      url: "https://theirs.openai.azure.com/openai/v1",
      expected: false,
    },
    { key: "VLLM_API_KEY", url: "http://10.0.0.5:8000/other", expected: true },
    { key: "VLLM_API_KEY", url: "http://10.0.0.5:8001/v1", expected: false },
    { key: "VLLM_API_KEY", url: "https://ours.openai.azure.com", expected: false },
    { key: "SGLANG_API_KEY", url: "http://localhost:30000/v1", expected: false },
    { key: "OLLAMA_API_KEY", url: "https://ollama.com/v1", expected: true },
    { key: "OLLAMA_API_KEY", url: "http://localhost:11434/v1", expected: false },
    {
      key: "CLOUDFLARE_API_TOKEN",
      url: "https://api.cloudflare.com/client/v4/accounts/abc123/ai/v1",
      expected: true,
    },
    {
      key: "CLOUDFLARE_API_TOKEN",
      url: "https://api.cloudflare.com/client/v4/accounts/abc123/workers",
      expected: false,
    },
    {
      key: "CLOUDFLARE_API_TOKEN",
      url: "https://api.cloudflare.com/client/v4/accounts/a/../b/c/ai/v1",
      expected: false,
    },
    { key: "AZURE_OPENAI_ENDPOINT", url: "https://ours.openai.azure.com", expected: false },
    { key: "constructor", url: "https://api.openai.com/v1", expected: false },
    { key: "OPENAI_API_KEY", url: "nonsense", expected: false },
  ])("$key may be sent to $url: $expected", ({ key, url, expected }) =>
    expect(mayReceiveKey(key, url, VARIABLES)).toBe(expected),
  );

  it("is not sent to an endpoint that the operator has not configured", () => {
    expect(
      mayReceiveKey("AZURE_OPENAI_API_KEY", "https://ours.openai.azure.com/openai/v1", {}),
    ).toBe(false);
    expect(keyOrigins("AZURE_OPENAI_API_KEY", {})).toEqual([]);
  });

  it("has its own name", () => {
    expect(new Set(KEY_NAMES).size).toBe(KEY_NAMES.length);
  });
});
