import type { Provider, ProviderOptions } from "./provider";

/** Which backend types a config may name, and what serves them. Facts about hosts and models lie beside, as data. */

export { findHost, HOSTS, hostById, type Host, KEY_ORIGINS, mayReceiveKey, UNKNOWN_HOST } from "./hosts";
export { type ModelFacts, modelFacts, UNKNOWN_MODEL } from "./models";

export type Format = "openai-chat" | "openai-responses" | "anthropic" | "gemini";

/** `served: false`: a backend type of MassGen's that is known by name and refused by it. */
export type BackendType =
  | { served: true; name: string; format: Format; defaultBaseUrl: string }
  | { served: false; name: string };

const notServed = (name: string): BackendType => ({ served: false, name });

export const BACKEND_TYPES: Readonly<Record<string, BackendType>> = {
  chatcompletion: {
    served: true,
    name: "Chat Completions",
    format: "openai-chat",
    defaultBaseUrl: "https://api.openai.com/v1",
  },
  openai: notServed("OpenAI Responses"),
  claude: notServed("Anthropic Messages"),
  gemini: notServed("Google Gemini"),
  grok: notServed("Grok"),
  azure_openai: notServed("Azure OpenAI"),
  zai: notServed("ZAI"),
  cerebras: notServed("Cerebras AI"),
  together: notServed("Together AI"),
  fireworks: notServed("Fireworks AI"),
  groq: notServed("Groq"),
  openrouter: notServed("OpenRouter"),
  moonshot: notServed("Kimi"),
  nebius: notServed("Nebius AI Studio"),
  poe: notServed("POE"),
  qwen: notServed("Qwen"),
  nvidia_nim: notServed("NVIDIA NIM"),
  lmstudio: notServed("LM Studio"),
  vllm: notServed("vLLM"),
  sglang: notServed("SGLang"),
  inference: notServed("local inference"),
  uitars: notServed("UI-TARS"),
  claude_code: notServed("Claude Code"),
  codex: notServed("Codex"),
  copilot: notServed("Copilot"),
  gemini_cli: notServed("Gemini CLI"),
  antigravity_cli: notServed("Antigravity CLI"),
  ag2: notServed("AG2"),
  autogen: notServed("AG2"),
};

type Create = (options: ProviderOptions) => Provider;

/** Loaded when first asked for: each brings an SDK, and an object that starts should not read those it does not need. */
const FORMATS: Readonly<Record<Format, () => Promise<Create>>> = {
  "openai-chat": async () => (await import("./openai-chat")).createOpenAiChat,
  "openai-responses": async () => (await import("./openai-responses")).createOpenAiResponses,
  anthropic: async () => (await import("./anthropic")).createAnthropic,
  gemini: async () => (await import("./gemini")).createGemini,
};

/** The provider that speaks this wire format to this endpoint. Without time limits: see `withTimeLimits`. */
export function createProvider(format: Format, options: ProviderOptions): Provider {
  return {
    id: options.host.id,
    async *stream(...call) {
      const create = await FORMATS[format]();
      yield* create(options).stream(...call);
    },
  };
}
