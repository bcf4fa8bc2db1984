import { describe, expect, it } from "vitest";
import { parseTeam } from "../../src/config/parse-team";
import { BACKEND_TYPES, SERVED_TYPES } from "../../src/providers/registry";
import { detailsOf, errorsOf, FULL_CONTEXT, teamOf, teamWith } from "./teams";

const agentOf = (backend: string, context = FULL_CONTEXT) => {
  const { agents, rules } = teamOf(teamWith(backend), context);
  return { backend: agents[0]?.backend, rules: rules.agents[0] };
};
const stored = (name: string) => ({ from: "stored", name });
const NO_KEY = { from: "none" };

describe("a backend with only a type", () => {
  it.each([
    {
      type: "openai",
      backend: {
        format: "openai-responses",
        model: "gpt-6.2-sol",
        baseUrl: "https://api.openai.com/v1",
        key: stored("OPENAI_API_KEY"),
      },
    },
    {
      type: "claude",
      backend: {
        format: "anthropic",
        model: "claude-sonnet-5-5",
        host: "anthropic",
        key: stored("ANTHROPIC_API_KEY"),
      },
    },
    {
      type: "gemini",
      backend: {
        format: "gemini",
        model: "gemini-3.8-flash",
        host: "google",
        key: stored("GOOGLE_API_KEY"),
      },
    },
    {
      type: "grok",
      backend: {
        format: "openai-responses",
        model: "grok-4.7",
        host: "xai",
        key: stored("XAI_API_KEY"),
      },
    },
    {
      type: "zai",
      backend: { baseUrl: "https://api.z.ai/api/paas/v4", key: stored("ZAI_API_KEY") },
    },
    { type: "cerebras", backend: { model: "gpt-oss-120b", key: stored("CEREBRAS_API_KEY") } },
    {
      type: "together",
      backend: { baseUrl: "https://api.together.xyz/v1", key: stored("TOGETHER_API_KEY") },
    },
    {
      type: "fireworks",
      backend: {
        baseUrl: "https://api.fireworks.ai/inference/v1",
        key: stored("FIREWORKS_API_KEY"),
      },
    },
    {
      type: "groq",
      backend: { baseUrl: "https://api.groq.com/openai/v1", key: stored("GROQ_API_KEY") },
    },
    {
      type: "moonshot",
      backend: { baseUrl: "https://api.moonshot.ai/v1", key: stored("MOONSHOT_API_KEY") },
    },
    { type: "qwen", backend: { model: "qwen3.8-max", key: stored("QWEN_API_KEY") } },
    {
      type: "deepseek",
      backend: { baseUrl: "https://api.deepseek.com", key: stored("DEEPSEEK_API_KEY") },
    },
    {
      type: "mistral",
      backend: { baseUrl: "https://api.mistral.ai/v1", key: stored("MISTRAL_API_KEY") },
    },
    { type: "nvidia_nim", backend: { host: "nvidia", key: stored("NGC_API_KEY") } },
    {
      type: "workers_ai",
      backend: {
        baseUrl: "https://api.cloudflare.com/client/v4/accounts/abc123/ai/v1",
        model: "@cf/openai/gpt-oss-120b",
        key: stored("CLOUDFLARE_API_TOKEN"),
      },
    },
  ])("$type has a default address, the operator's key and a default model", ({ type, backend }) => {
    expect(agentOf(`type: ${type}`).backend).toMatchObject({ type, ...backend });
  });

  it.each([
    "chatcompletion",
    "azure_openai",
    "openrouter",
    "nebius",
    "poe",
    "ollama",
    "lmstudio",
    "vllm",
    "sglang",
    "inference",
  ])("%s needs a model", (type) => {
    expect(errorsOf(teamWith(`type: ${type}`), FULL_CONTEXT)).toEqual([
      "4:7 missing /agents/0/backend",
    ]);
    expect(agentOf(`type: ${type}\nmodel: m`).backend).toMatchObject({ type, model: "m" });
  });

  it.each(Object.keys(BACKEND_TYPES).filter((type) => !SERVED_TYPES.includes(type)))(
    "%s is not supported, and the error names an alternative",
    (type) => {
      const source = teamWith(`type: ${type}`);
      expect(errorsOf(source, FULL_CONTEXT)).toEqual(["4:13 not_served /agents/0/backend/type"]);
      expect(detailsOf(parseTeam(source, FULL_CONTEXT))[0]).toMatch(
        /not supported: .*(type:|agent)/,
      );
    },
  );
});

describe("a base URL", () => {
  it.each(SERVED_TYPES.filter((type) => type !== "chatcompletion" && type !== "azure_openai"))(
    "replaces the address of %s, keeps the host of the type, and gets no key of the operator",
    (type) => {
      const byDefault = agentOf(`type: ${type}\nmodel: m`).backend;
      const withBaseUrl = agentOf(
        `type: ${type}\nmodel: m\nbase_url: https://proxy.example.org/v1`,
      ).backend;
      expect(withBaseUrl).toMatchObject({
        host: byDefault?.host,
        format: byDefault?.format,
        baseUrl: "https://proxy.example.org/v1",
        key: NO_KEY,
      });
    },
  );

  it("determines the host for the type chatcompletion", () => {
    expect(
      agentOf("type: chatcompletion\nmodel: m\nbase_url: https://api.mistral.ai/v1").backend,
    ).toMatchObject({
      host: "mistral",
      key: stored("MISTRAL_API_KEY"),
    });
  });
});

describe("a self-hosted server", () => {
  it.each([
    { type: "vllm", baseUrl: "http://10.0.0.5:8000/v1", key: stored("VLLM_API_KEY") },
    { type: "sglang", baseUrl: "http://localhost:30000/v1", key: NO_KEY },
    { type: "lmstudio", baseUrl: "http://localhost:1234/v1", key: NO_KEY },
    { type: "inference", baseUrl: "http://localhost:8000/v1", key: NO_KEY },
    { type: "ollama", baseUrl: "http://localhost:11434/v1", key: NO_KEY },
  ])("has the type's default address: $type", ({ type, baseUrl, key }) => {
    const source = teamWith(`type: ${type}\nmodel: m`);
    expect(agentOf(`type: ${type}\nmodel: m`).backend).toMatchObject({ host: type, baseUrl, key });
    expect(parseTeam(source, FULL_CONTEXT).warnings.map(({ code }) => code)).toEqual([
      "price_unknown",
    ]);
  });

  it("gets the operator's key only at the operator's address", () => {
    expect(
      agentOf("type: vllm\nmodel: m\nbase_url: http://localhost:8000/v1").backend?.key,
    ).toEqual(NO_KEY);
    const source = teamWith(
      "type: vllm\nmodel: m\nbase_url: http://localhost:8000/v1\napi_key: ${VLLM_API_KEY}",
    );
    expect(errorsOf(source, FULL_CONTEXT)).toEqual([
      "7:16 key_bound_elsewhere /agents/0/backend/api_key",
    ]);
  });

  it("may have a key that the server ignores", () => {
    expect(agentOf("type: lmstudio\nmodel: m\napi_key: lm-studio").backend?.key).toEqual({
      from: "literal",
      value: "lm-studio",
    });
  });

  it("is refused if its address is not allowed", () => {
    const source = teamWith("type: lmstudio\nmodel: m");
    expect(errorsOf(source, { ...FULL_CONTEXT, allowedOrigins: [] })).toEqual([
      "4:7 base_url_refused /agents/0/backend/base_url",
    ]);
  });

  it("needs a key if its address is the provider's cloud", () => {
    const source = teamWith("type: ollama\nmodel: m\nbase_url: https://ollama.com/v1");
    expect(teamOf(source, FULL_CONTEXT).agents[0]?.backend.key).toEqual(stored("OLLAMA_API_KEY"));
    expect(errorsOf(source, { ...FULL_CONTEXT, storedKeys: [] })).toEqual([
      "4:7 key_not_set /agents/0/backend",
    ]);
  });
});

describe("the coordination rules of a backend", () => {
  it.each([
    { name: "tools can be forced", backend: "type: openai", forces_tools: true },
    {
      name: "tools cannot be forced if the model thinks",
      backend: "type: claude",
      forces_tools: false,
    },
    {
      name: "tools can be forced if the model does not think",
      backend: "type: claude\nmodel: claude-sonnet-4-5",
      forces_tools: true,
    },
    {
      name: "tools are not forced if it is unknown whether they can be",
      backend: "type: qwen",
      forces_tools: false,
    },
  ])("state that $name", ({ backend, forces_tools }) => {
    expect(agentOf(backend).rules).toMatchObject({ forces_tools });
  });

  it("contain the price of the model with all its rates", () => {
    expect(agentOf("type: claude\nmodel: claude-haiku-5-5").rules?.price).toMatchObject({
      cache_write: 0.125,
      long_prompt: { above: 100_000, output: 2.5 },
    });
  });
});
