import type { Host } from "./host";

/**
 * Known hosts and their differences. The code for the wire formats reads this table and contains no
 * name of a host.
 */

/** Values that apply to most hosts. */
const DEFAULTS = {
  tokenLimit: "max_tokens",
  forcesTools: true,
  wantsReasoningBack: false,
  auth: "bearer",
  hostedTools: {},
} as const;

/**
 * Values for servers that users run themselves. The backend type identifies such a server, because
 * its address varies.
 */
const OWN_SERVER = {
  ...DEFAULTS,
  suffixes: [],
  keyNames: [],
  origins: [],
  keyOptional: true,
  forcesTools: false,
  wantsTextWithCalls: true,
} as const;

/**
 * Names of models that return encrypted reasoning. A deployment with another name is not asked for
 * it.
 */
const REASONING_GPT = /^(o\d|codex|gpt-([5-9]|\d\d))(?!.*chat)/;
const REASONING_GROK = /^grok-([4-9]|\d\d|code|build)(?!.*non-reasoning)/;

/**
 * Marks in the content of messages, up to which a prompt is cached. Earlier models of the makers
 * cache without marks and refuse the field.
 */
const BREAKPOINTS = {
  models: /^gpt-(5\.([6-9]|[1-9]\d)|[6-9]|1\d)(?!\d)(?!.*chat)/,
  mark: { prompt_cache_breakpoint: { mode: "explicit" } },
} as const;
const FORWARDED_MARKS = {
  models: /^anthropic\//,
  mark: { cache_control: { type: "ephemeral" } },
} as const;

/**
 * Estimate: the pages that one search finds have several thousand tokens, sometimes tens of
 * thousands.
 */
const SEARCH_TOKENS = 20_000;
/** Estimate: the output of a program, plus the program itself, which becomes input too. */
const CODE_TOKENS = 8_000;

// Prices of hosted tools are list prices as read in November 2026.
export const HOSTS: readonly Host[] = [
  {
    ...DEFAULTS,
    id: "openai",
    name: "OpenAI",
    suffixes: ["openai.com"],
    keyNames: ["OPENAI_API_KEY"],
    origins: ["https://api.openai.com", "https://eu.api.openai.com", "https://us.api.openai.com"],
    tokenLimit: "max_completion_tokens", // its reasoning models refuse `max_tokens`
    hostedTools: {
      web_search: {
        wireName: "web_search",
        usdPerUse: 0.01,
        tokensPerUse: SEARCH_TOKENS,
        include: "web_search_call.action.sources",
      },
      code_execution: {
        wireName: "code_interpreter",
        // price of 20 minutes of a container, longer than any call; several uses may share it
        usdPerUse: 0.03,
        tokensPerUse: CODE_TOKENS,
        wireFields: { container: { type: "auto" } },
        include: "code_interpreter_call.outputs",
      },
    },
    usesLimit: "max_tool_calls",
    encryptsReasoning: REASONING_GPT,
    cacheKey: true,
    cacheMarks: BREAKPOINTS,
    background: true,
  },
  {
    ...DEFAULTS,
    id: "anthropic",
    name: "Anthropic",
    suffixes: ["anthropic.com", "claude.com"],
    keyNames: ["ANTHROPIC_API_KEY"],
    origins: ["https://api.anthropic.com"],
    hostedTools: {
      // Generally available versions that all models accept.
      web_search: {
        wireName: "web_search_20250305",
        usdPerUse: 0.01,
        tokensPerUse: SEARCH_TOKENS,
        limited: true,
      },
      // $0.05 per hour beyond a free allowance; a call ends within 15 minutes.
      code_execution: {
        wireName: "code_execution_20250825",
        usdPerUse: 0.0125,
        tokensPerUse: CODE_TOKENS,
      },
    },
  },
  {
    ...DEFAULTS,
    id: "google",
    name: "Google Gemini",
    suffixes: ["googleapis.com"],
    keyNames: ["GOOGLE_API_KEY", "GEMINI_API_KEY"],
    origins: ["https://generativelanguage.googleapis.com"],
    hostedTools: {
      web_search: {
        wireName: "google_search",
        usdPerUse: 0.014,
        surcharge: { models: /^gemini-[12]\./, usdPerUse: 0.035 },
        tokensPerUse: SEARCH_TOKENS,
      },
      code_execution: { wireName: "code_execution", usdPerUse: 0, tokensPerUse: CODE_TOKENS },
    },
  },
  {
    ...DEFAULTS,
    id: "xai",
    name: "Grok",
    suffixes: ["x.ai"],
    keyNames: ["XAI_API_KEY"],
    origins: ["https://api.x.ai"],
    tokenLimit: "max_completion_tokens", // includes reasoning; `max_tokens` is deprecated
    hostedTools: {
      web_search: { wireName: "web_search", usdPerUse: 0.005, tokensPerUse: SEARCH_TOKENS },
      x_search: { wireName: "x_search", usdPerUse: 0.005, tokensPerUse: SEARCH_TOKENS },
      code_execution: { wireName: "code_interpreter", usdPerUse: 0.005, tokensPerUse: CODE_TOKENS },
    },
    usesLimit: "max_turns",
    encryptsReasoning: REASONING_GROK,
  },
  {
    ...DEFAULTS,
    id: "azure_openai",
    name: "Azure OpenAI",
    suffixes: ["openai.azure.com", "services.ai.azure.com", "cognitiveservices.azure.com"],
    keyNames: ["AZURE_OPENAI_API_KEY"],
    origins: [], // every resource has its own origin
    endpointVariable: "AZURE_OPENAI_ENDPOINT",
    tokenLimit: "max_completion_tokens",
    auth: "api-key",
    hostedTools: {
      code_execution: {
        wireName: "code_interpreter",
        usdPerUse: null, // its price page shows no figures
        tokensPerUse: CODE_TOKENS,
        wireFields: { container: { type: "auto" } },
        include: "code_interpreter_call.outputs",
      },
    },
    usesLimit: "max_tool_calls",
    encryptsReasoning: REASONING_GPT,
  },
  {
    ...DEFAULTS,
    id: "cerebras",
    name: "Cerebras AI",
    suffixes: ["cerebras.ai"],
    keyNames: ["CEREBRAS_API_KEY"],
    origins: ["https://api.cerebras.ai"],
    tokenLimit: "max_completion_tokens",
  },
  {
    ...DEFAULTS,
    id: "together",
    name: "Together AI",
    suffixes: ["together.xyz", "together.ai"],
    keyNames: ["TOGETHER_API_KEY"],
    origins: ["https://api.together.xyz", "https://api.together.ai"],
  },
  {
    ...DEFAULTS,
    id: "fireworks",
    name: "Fireworks AI",
    suffixes: ["fireworks.ai"],
    keyNames: ["FIREWORKS_API_KEY"],
    origins: ["https://api.fireworks.ai"],
  },
  {
    ...DEFAULTS,
    id: "groq",
    name: "Groq",
    suffixes: ["groq.com"],
    keyNames: ["GROQ_API_KEY"],
    origins: ["https://api.groq.com"],
    tokenLimit: "max_completion_tokens",
  },
  {
    ...DEFAULTS,
    id: "nebius",
    name: "Nebius Token Factory",
    suffixes: ["nebius.ai", "nebius.com"],
    keyNames: ["NEBIUS_API_KEY"],
    origins: [
      "https://api.tokenfactory.nebius.com",
      "https://api.studio.nebius.ai",
      "https://api.studio.nebius.com",
    ],
  },
  {
    ...DEFAULTS,
    id: "openrouter",
    name: "OpenRouter",
    suffixes: ["openrouter.ai"],
    keyNames: ["OPENROUTER_API_KEY"],
    origins: ["https://openrouter.ai"],
    // With a forced call, the request fails if no server of the model supports forcing
    forcesTools: false,
    cacheMarks: FORWARDED_MARKS,
  },
  {
    ...DEFAULTS,
    id: "zai",
    name: "ZAI",
    suffixes: ["z.ai", "bigmodel.cn"],
    keyNames: ["ZAI_API_KEY"],
    origins: ["https://api.z.ai", "https://open.bigmodel.cn"],
    forcesTools: false,
    wantsReasoningBack: true,
  },
  {
    ...DEFAULTS,
    id: "moonshot",
    name: "Kimi",
    suffixes: ["moonshot.cn", "moonshot.ai"],
    keyNames: ["MOONSHOT_API_KEY", "KIMI_API_KEY"],
    origins: ["https://api.moonshot.ai", "https://api.moonshot.cn"],
    forcesTools: false,
    wantsReasoningBack: true,
  },
  {
    ...DEFAULTS,
    id: "poe",
    name: "POE",
    suffixes: ["poe.com"],
    keyNames: ["POE_API_KEY"],
    origins: ["https://api.poe.com"],
    forcesTools: false,
  },
  {
    ...DEFAULTS,
    id: "qwen",
    name: "Qwen",
    suffixes: ["aliyuncs.com"],
    keyNames: ["QWEN_API_KEY", "DASHSCOPE_API_KEY"],
    origins: [
      "https://dashscope-intl.aliyuncs.com",
      "https://dashscope.aliyuncs.com",
      "https://dashscope-us.aliyuncs.com",
    ],
    forcesTools: false,
  },
  {
    ...DEFAULTS,
    id: "deepseek",
    name: "DeepSeek",
    suffixes: ["deepseek.com"],
    keyNames: ["DEEPSEEK_API_KEY"],
    origins: ["https://api.deepseek.com"],
    forcesTools: false, // refused by its thinking models
    wantsReasoningBack: true,
  },
  {
    ...DEFAULTS,
    id: "mistral",
    name: "Mistral AI",
    suffixes: ["mistral.ai"],
    keyNames: ["MISTRAL_API_KEY"],
    origins: ["https://api.mistral.ai"],
    wantsWordAfterResults: true,
    cacheKey: true,
  },
  {
    ...DEFAULTS,
    id: "nvidia",
    name: "NVIDIA NIM",
    suffixes: ["nvidia.com"],
    keyNames: ["NGC_API_KEY", "NVIDIA_API_KEY"],
    origins: ["https://integrate.api.nvidia.com"],
    forcesTools: false,
  },
  {
    ...DEFAULTS,
    id: "workers_ai",
    name: "Cloudflare Workers AI",
    // Only this host: the gateway of Cloudflare forwards to other vendors
    suffixes: ["api.cloudflare.com"],
    keyNames: ["CLOUDFLARE_API_TOKEN"],
    origins: ["https://api.cloudflare.com"],
    keyPath: /^\/client\/v4\/accounts\/[A-Za-z0-9]+\/ai\/v1$/,
    forcesTools: false,
    wantsTextWithCalls: true,
  },
  {
    ...OWN_SERVER,
    id: "ollama",
    name: "Ollama",
    suffixes: ["ollama.com"],
    keyNames: ["OLLAMA_API_KEY"],
    origins: ["https://ollama.com"],
  },
  {
    ...OWN_SERVER,
    id: "vllm",
    name: "vLLM",
    keyNames: ["VLLM_API_KEY"],
    endpointVariable: "VLLM_BASE_URL",
    forcesTools: true,
  },
  {
    ...OWN_SERVER,
    id: "sglang",
    name: "SGLang",
    keyNames: ["SGLANG_API_KEY"],
    endpointVariable: "SGLANG_BASE_URL",
  },
  { ...OWN_SERVER, id: "lmstudio", name: "LM Studio" },
  { ...OWN_SERVER, id: "inference", name: "Own inference server" },
];
