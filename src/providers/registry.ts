import type { HostedToolName } from "../protocol/hosted-tools";
import { HOSTS } from "./host-rows";
import { ENDPOINT_VARIABLES } from "./hosts";
import type { Provider, ProviderOptions } from "./provider";

/** The backend types that a config may name, with the format, host and model of each type. */

export {
  findHost,
  HOSTS,
  hostById,
  type Host,
  KEY_NAMES,
  mayReceiveKey,
  UNKNOWN_HOST,
} from "./hosts";
export { type ModelFacts, modelFacts, UNKNOWN_MODEL } from "./models";

export type Format = "openai-chat" | "openai-responses" | "anthropic" | "gemini";

export type ServedType = {
  served: true;
  /** Name shown to users. */
  name: string;
  /** Id of the host in the table of hosts; `null` if the address determines the host. */
  host: string | null;
  format: Format;
  /** Formats by the value of the config key `api`; omitted if there is no choice. */
  apis?: Readonly<Record<string, Format>>;
  /**
   * Default base URL. `{NAME}` is replaced by the variable of the operator. `null` if the config
   * must set one.
   */
  baseUrl: string | null;
  /** Name of a variable of the operator that takes precedence over `baseUrl`. */
  baseUrlVariable?: string;
  /**
   * For endpoints with dated API versions: the end of the base URL for the current and for a dated
   * version, and the variable with the date.
   */
  versions?: { current: string; dated: string; variable: string };
  /** Default model; `null` if the config must set one. */
  model: string | null;
};

/**
 * `served: false` is a backend type of MassGen that we refuse. `instead` is the reason and an
 * alternative for the user.
 */
type BackendType = ServedType | { served: false; name: string; instead: string };

/** Formats that can request hosted tools. */
const HOSTED_FORMATS: ReadonlySet<Format> = new Set<Format>([
  "openai-responses",
  "anthropic",
  "gemini",
]);

/** Whether this format can request hosted tools. */
export const runsHostedTools = (format: Format): boolean => HOSTED_FORMATS.has(format);

type ChatType = Omit<ServedType, "served" | "format">;
const chat = (type: ChatType): ServedType => ({ served: true, format: "openai-chat", ...type });

const LOCAL_PROGRAM_REASON =
  "it is a local program, which the service cannot start. Use the API of its models: `type: claude`, `openai` or `gemini`";
const FRAMEWORK_REASON =
  "it is a Python framework, which the service does not run. Add each model as an agent of the team";

const localProgram = (name: string): BackendType => ({
  served: false,
  name,
  instead: LOCAL_PROGRAM_REASON,
});
const framework = (name: string): BackendType => ({
  served: false,
  name,
  instead: FRAMEWORK_REASON,
});

export const BACKEND_TYPES: Readonly<Record<string, BackendType>> = {
  openai: {
    served: true,
    name: "OpenAI Responses",
    host: "openai",
    format: "openai-responses",
    baseUrl: "https://api.openai.com/v1",
    model: "gpt-6.2-sol",
  },
  claude: {
    served: true,
    name: "Anthropic Messages",
    host: "anthropic",
    format: "anthropic",
    baseUrl: "https://api.anthropic.com",
    model: "claude-sonnet-5-5",
  },
  gemini: {
    served: true,
    name: "Google Gemini",
    host: "google",
    format: "gemini",
    baseUrl: "https://generativelanguage.googleapis.com",
    model: "gemini-3.8-flash",
  },
  grok: {
    served: true,
    name: "Grok",
    host: "xai",
    format: "openai-responses",
    apis: { responses: "openai-responses", chat_completions: "openai-chat" },
    baseUrl: "https://api.x.ai/v1",
    model: "grok-4.7",
  },
  azure_openai: chat({
    name: "Azure OpenAI",
    host: "azure_openai",
    apis: { chat_completions: "openai-chat", responses: "openai-responses" },
    baseUrl: null,
    baseUrlVariable: "AZURE_OPENAI_ENDPOINT",
    versions: { current: "/openai/v1", dated: "/openai", variable: "AZURE_OPENAI_API_VERSION" },
    model: null,
  }),
  chatcompletion: chat({
    name: "Chat Completions",
    host: null,
    baseUrl: "https://api.openai.com/v1",
    model: null,
  }),
  zai: chat({
    name: "ZAI",
    host: "zai",
    baseUrl: "https://api.z.ai/api/paas/v4",
    model: "glm-5.3",
  }),
  cerebras: chat({
    name: "Cerebras AI",
    host: "cerebras",
    baseUrl: "https://api.cerebras.ai/v1",
    model: "gpt-oss-120b",
  }),
  together: chat({
    name: "Together AI",
    host: "together",
    baseUrl: "https://api.together.xyz/v1",
    model: "openai/gpt-oss-120b",
  }),
  fireworks: chat({
    name: "Fireworks AI",
    host: "fireworks",
    baseUrl: "https://api.fireworks.ai/inference/v1",
    model: "accounts/fireworks/models/glm-5p3",
  }),
  groq: chat({
    name: "Groq",
    host: "groq",
    baseUrl: "https://api.groq.com/openai/v1",
    model: "openai/gpt-oss-120b",
  }),
  openrouter: chat({
    name: "OpenRouter",
    host: "openrouter",
    baseUrl: "https://openrouter.ai/api/v1",
    model: null,
  }),
  moonshot: chat({
    name: "Kimi",
    host: "moonshot",
    baseUrl: "https://api.moonshot.ai/v1",
    model: "kimi-k3.1-pro",
  }),
  nebius: chat({
    name: "Nebius Token Factory",
    host: "nebius",
    baseUrl: "https://api.tokenfactory.nebius.com/v1",
    model: null,
  }),
  poe: chat({ name: "POE", host: "poe", baseUrl: "https://api.poe.com/v1", model: null }),
  qwen: chat({
    name: "Qwen",
    host: "qwen",
    baseUrl: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    model: "qwen3.8-max",
  }),
  deepseek: chat({
    name: "DeepSeek",
    host: "deepseek",
    baseUrl: "https://api.deepseek.com",
    model: "deepseek-flash",
  }),
  mistral: chat({
    name: "Mistral AI",
    host: "mistral",
    baseUrl: "https://api.mistral.ai/v1",
    model: "mistral-large-4",
  }),
  nvidia_nim: chat({
    name: "NVIDIA NIM",
    host: "nvidia",
    baseUrl: "https://integrate.api.nvidia.com/v1",
    model: "moonshotai/kimi-k2.6",
  }),
  workers_ai: chat({
    name: "Cloudflare Workers AI",
    host: "workers_ai",
    baseUrl: "https://api.cloudflare.com/client/v4/accounts/{CLOUDFLARE_ACCOUNT_ID}/ai/v1",
    model: "@cf/openai/gpt-oss-120b",
  }),
  ollama: chat({
    name: "Ollama",
    host: "ollama",
    baseUrl: "http://localhost:11434/v1",
    model: null,
  }),
  lmstudio: chat({
    name: "LM Studio",
    host: "lmstudio",
    baseUrl: "http://localhost:1234/v1",
    model: null,
  }),
  vllm: chat({
    name: "vLLM",
    host: "vllm",
    baseUrl: "http://localhost:8000/v1",
    baseUrlVariable: "VLLM_BASE_URL",
    model: null,
  }),
  sglang: chat({
    name: "SGLang",
    host: "sglang",
    baseUrl: "http://localhost:30000/v1",
    baseUrlVariable: "SGLANG_BASE_URL",
    model: null,
  }),
  inference: chat({
    name: "Own inference server",
    host: "inference",
    baseUrl: "http://localhost:8000/v1",
    model: null,
  }),
  uitars: {
    served: false,
    name: "UI-TARS",
    instead:
      "it needs a screen, which the service does not have. Use its model as `type: chatcompletion` with its `base_url`",
  },
  claude_code: localProgram("Claude Code"),
  codex: localProgram("Codex"),
  copilot: localProgram("Copilot"),
  gemini_cli: localProgram("Gemini CLI"),
  antigravity_cli: localProgram("Antigravity CLI"),
  ag2: framework("AG2"),
  autogen: framework("AG2"),
};

const servedTypes = (): [string, ServedType][] =>
  Object.entries(BACKEND_TYPES).flatMap(([type, facts]): [string, ServedType][] =>
    facts.served ? [[type, facts]] : [],
  );

/** Names of the supported types, in the order of the table. */
export const SERVED_TYPES: readonly string[] = servedTypes().map(([type]) => type);

/** Names of the types with which an agent can use this hosted tool. */
export function typesWithTool(tool: HostedToolName): string[] {
  const formatsOf = ({ format, apis = {} }: ServedType) => [format, ...Object.values(apis)];
  return servedTypes()
    .filter(
      ([, type]) =>
        HOSTS.find(({ id }) => id === type.host)?.hostedTools[tool] &&
        formatsOf(type).some(runsHostedTools),
    )
    .map(([type]) => type);
}

const PLACEHOLDER = /\{([A-Z_]+)\}/g;

/** Names of all variables of the operator that backend types and keys refer to. */
export const OPERATOR_VARIABLES: readonly string[] = [
  ...new Set([
    ...ENDPOINT_VARIABLES,
    ...servedTypes().flatMap(([, { baseUrl, baseUrlVariable, versions }]) => [
      ...[...(baseUrl ?? "").matchAll(PLACEHOLDER)].flatMap(([, name]) => name ?? []),
      ...(baseUrlVariable === undefined ? [] : [baseUrlVariable]),
      ...(versions === undefined ? [] : [versions.variable]),
    ]),
  ]),
];

/**
 * Whether the operator has stored a key for a backend type. `keyNames` is empty if the type needs
 * no key.
 */
export type KeyReport = { type: string; name: string; keyNames: readonly string[]; set: boolean };

/**
 * One entry per supported type that has a host. An entry reports whether the stored keys include a
 * key for the type. Pure. The report is printed when the service starts.
 */
export function keyReport(storedKeys: readonly string[]): KeyReport[] {
  return servedTypes().flatMap(([type, { name, host }]) => {
    const keyNames = HOSTS.find(({ id }) => id === host)?.keyNames;
    return keyNames
      ? [{ type, name, keyNames, set: keyNames.some((key) => storedKeys.includes(key)) }]
      : [];
  });
}

type Create = (options: ProviderOptions) => Provider;

/**
 * Loaders of the formats. A format is loaded on first use because it contains an SDK, and a
 * starting object should not load code that it does not need.
 */
const FORMAT_LOADERS: Readonly<Record<Format, () => Promise<Create>>> = {
  "openai-chat": async () => (await import("./openai-chat")).createOpenAiChat,
  "openai-responses": async () => (await import("./openai-responses")).createOpenAiResponses,
  anthropic: async () => (await import("./anthropic")).createAnthropic,
  gemini: async () => (await import("./gemini")).createGemini,
};

const loadedFormats = new Map<Format, Create>();

/**
 * Preloads the code of these formats, by default of all. Optional: without it, the first call loads
 * the code and takes a little longer.
 */
export async function loadFormats(
  formats: readonly Format[] = ["openai-chat", "openai-responses", "anthropic", "gemini"],
) {
  await Promise.all(
    formats.map(async (format) => loadedFormats.set(format, await FORMAT_LOADERS[format]())),
  );
}

/**
 * The provider for this wire format and endpoint. It has no time limits; add them with
 * `withTimeLimits`.
 */
export function createProvider(format: Format, options: ProviderOptions): Provider {
  return {
    id: options.host.id,
    async *stream(...call) {
      const create = loadedFormats.get(format) ?? (await FORMAT_LOADERS[format]());
      loadedFormats.set(format, create);
      yield* create(options).stream(...call);
    },
  };
}
