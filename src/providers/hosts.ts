import type { HostedToolName } from "../protocol/hosted-tools";

/**
 * The known hosts of OpenAI-compatible endpoints and how they differ. All differences between them are in this table; the wire
 * format's code reads it and knows no host.
 */

/** What is known of a tool that a provider runs itself. */
export type HostedToolFacts = {
  /** How it is called in requests. */
  wireName: string;
  /** US dollars of one use; null: unknown. */
  usdPerUse: number | null;
  /** Input tokens that the results of one use may add to the call: a cautious guess where the provider names no bound. */
  tokensPerUse: number;
  /** What else its entry among the tools of a request must hold. */
  wireFields?: Readonly<Record<string, unknown>>;
  /** What must be asked for so that its results are shown. */
  include?: string;
};

export type Host = {
  /** Stable, lower case; the `provider` of events and logs. */
  id: string;
  /** For people. */
  name: string;
  /** Host names this row is for: the name itself or anything below it. */
  suffixes: readonly string[];
  /** Names of the operator's keys for it, the preferred one first. */
  keyNames: readonly string[];
  /** The only origins those keys may be sent to. */
  origins: readonly string[];
  /** How the cap on output tokens is called. */
  tokenLimit: "max_tokens" | "max_completion_tokens";
  /** Whether `tool_choice: "required"` is understood; where it depends on the model, or nobody says, it is not used. */
  forcesTools: boolean;
  /** Whether thinking models must get their own `reasoning_content` back within a round of tool calls. */
  wantsReasoningBack: boolean;
  /** The header that carries the key, with `Bearer ` before it or alone. */
  auth: "bearer" | "api-key";
  /** Tools the provider runs itself, by our names. */
  hostedTools: Readonly<Partial<Record<HostedToolName, HostedToolFacts>>>;
  /** The field of a request that caps the uses of all its hosted tools together; absent: there is none. */
  usesLimit?: "max_tool_calls" | "max_turns";
  /** Models that give their reasoning encrypted, to be sent back; others refuse to be asked for it. Absent: none. */
  encryptsReasoning?: RegExp;
  /** Whether replies can be written in the background, so that a cut stream can be taken up again. */
  background?: boolean;
};

const ORDINARY = {
  tokenLimit: "max_tokens",
  forcesTools: true,
  wantsReasoningBack: false,
  auth: "bearer",
  hostedTools: {},
} as const;

/** By name only: a deployment may be called anything, and one that is not known by its name is not asked. */
const THINKING_GPT = /^(o\d|codex|gpt-([5-9]|\d\d))(?!.*chat)/;
const THINKING_GROK = /^grok-([4-9]|\d\d|code|build)(?!.*non-reasoning)/;

export const HOSTS: readonly Host[] = [
  {
    ...ORDINARY,
    id: "openai",
    name: "OpenAI",
    suffixes: ["openai.com"],
    keyNames: ["OPENAI_API_KEY"],
    origins: ["https://api.openai.com", "https://eu.api.openai.com", "https://us.api.openai.com"],
    tokenLimit: "max_completion_tokens", // its reasoning models refuse the older name
    usesLimit: "max_tool_calls",
    encryptsReasoning: THINKING_GPT,
    background: true,
  },
  {
    ...ORDINARY,
    id: "cerebras",
    name: "Cerebras AI",
    suffixes: ["cerebras.ai"],
    keyNames: ["CEREBRAS_API_KEY"],
    origins: ["https://api.cerebras.ai"],
  },
  {
    ...ORDINARY,
    id: "together",
    name: "Together AI",
    suffixes: ["together.xyz", "together.ai"],
    keyNames: ["TOGETHER_API_KEY"],
    origins: ["https://api.together.xyz", "https://api.together.ai"],
  },
  {
    ...ORDINARY,
    id: "fireworks",
    name: "Fireworks AI",
    suffixes: ["fireworks.ai"],
    keyNames: ["FIREWORKS_API_KEY"],
    origins: ["https://api.fireworks.ai"],
  },
  {
    ...ORDINARY,
    id: "groq",
    name: "Groq",
    suffixes: ["groq.com"],
    keyNames: ["GROQ_API_KEY"],
    origins: ["https://api.groq.com"],
  },
  {
    ...ORDINARY,
    id: "nebius",
    name: "Nebius AI Studio",
    suffixes: ["nebius.ai", "nebius.com"],
    keyNames: ["NEBIUS_API_KEY"],
    origins: ["https://api.studio.nebius.ai", "https://api.studio.nebius.com", "https://api.tokenfactory.nebius.com"],
  },
  {
    ...ORDINARY,
    id: "openrouter",
    name: "OpenRouter",
    suffixes: ["openrouter.ai"],
    keyNames: ["OPENROUTER_API_KEY"],
    origins: ["https://openrouter.ai"],
  },
  {
    ...ORDINARY,
    id: "zai",
    name: "ZAI",
    suffixes: ["z.ai", "bigmodel.cn"],
    keyNames: ["ZAI_API_KEY"],
    origins: ["https://api.z.ai", "https://open.bigmodel.cn"],
    forcesTools: false,
    wantsReasoningBack: true,
  },
  {
    ...ORDINARY,
    id: "moonshot",
    name: "Kimi",
    suffixes: ["moonshot.cn", "moonshot.ai"],
    keyNames: ["MOONSHOT_API_KEY", "KIMI_API_KEY"],
    origins: ["https://api.moonshot.cn", "https://api.moonshot.ai"],
    forcesTools: false,
    wantsReasoningBack: true,
  },
  {
    ...ORDINARY,
    id: "poe",
    name: "POE",
    suffixes: ["poe.com"],
    keyNames: ["POE_API_KEY"],
    origins: ["https://api.poe.com"],
    forcesTools: false,
  },
  {
    ...ORDINARY,
    id: "qwen",
    name: "Qwen",
    suffixes: ["aliyuncs.com"],
    keyNames: ["QWEN_API_KEY"],
    origins: ["https://dashscope-intl.aliyuncs.com", "https://dashscope.aliyuncs.com", "https://dashscope-us.aliyuncs.com"],
    forcesTools: false,
  },
  {
    ...ORDINARY,
    id: "xai",
    name: "Grok",
    suffixes: ["x.ai"],
    keyNames: ["XAI_API_KEY"],
    origins: ["https://api.x.ai"],
    usesLimit: "max_turns",
    encryptsReasoning: THINKING_GROK,
  },
  {
    ...ORDINARY,
    id: "deepseek",
    name: "DeepSeek",
    suffixes: ["deepseek.com"],
    keyNames: ["DEEPSEEK_API_KEY"],
    origins: ["https://api.deepseek.com"],
    forcesTools: false, // refused by its thinking models
    wantsReasoningBack: true,
  },
  {
    ...ORDINARY,
    id: "mistral",
    name: "Mistral AI",
    suffixes: ["mistral.ai"],
    keyNames: ["MISTRAL_API_KEY"],
    origins: ["https://api.mistral.ai"],
  },
  {
    ...ORDINARY,
    id: "nvidia",
    name: "NVIDIA NIM",
    suffixes: ["nvidia.com"],
    keyNames: ["NGC_API_KEY", "NVIDIA_API_KEY"],
    origins: ["https://integrate.api.nvidia.com"],
    forcesTools: false,
  },
];

/** What is assumed of an endpoint nobody listed: the oldest common ground, and no key of the operator's. */
export const UNKNOWN_HOST: Host = {
  id: "custom",
  name: "Custom endpoint",
  suffixes: [],
  keyNames: [],
  origins: [],
  tokenLimit: "max_tokens",
  forcesTools: false,
  wantsReasoningBack: false,
  auth: "bearer",
  hostedTools: {},
};

/** The row with this id; `UNKNOWN_HOST` if there is none. */
export const hostById = (id: string): Host => HOSTS.find((host) => host.id === id) ?? UNKNOWN_HOST;

/** The row of a base URL's host, `UNKNOWN_HOST` for any other host or for what is no URL. */
export function findHost(baseUrl: string): Host {
  const name = hostNameOf(baseUrl);
  return HOSTS.find((host) => host.suffixes.some((suffix) => name === suffix || name.endsWith(`.${suffix}`))) ?? UNKNOWN_HOST;
}

function hostNameOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).hostname.replace(/\.$/, "") : "";
}

/** Key name → the origins a stored key of that name may be sent to. */
export const KEY_ORIGINS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  HOSTS.flatMap((host) => host.keyNames.map((keyName) => [keyName, host.origins])),
);

/** Whether the operator's key of this name may be sent to this base URL: exactly its origin, nothing that looks like it. */
export function mayReceiveKey(keyName: string, baseUrl: string): boolean {
  if (!Object.hasOwn(KEY_ORIGINS, keyName) || !URL.canParse(baseUrl)) return false;
  return KEY_ORIGINS[keyName]?.includes(new URL(baseUrl).origin) ?? false;
}
