import type { HostedToolName } from "../protocol/hosted-tools";

/** Facts about a tool that the provider runs itself. */
export type HostedToolFacts = {
  /** The name of the tool in requests. */
  wireName: string;
  /** US dollars per use; `null` if unknown. */
  usdPerUse: number | null;
  /** The models for which a use costs more, and the price for them. */
  surcharge?: { models: RegExp; usdPerUse: number };
  /**
   * Maximum input tokens that the results of one use add to the call. A safe estimate if the
   * provider documents no maximum.
   */
  tokensPerUse: number;
  /** Other fields that the provider requires for this tool in the `tools` of a request. */
  wireFields?: Readonly<Record<string, unknown>>;
  /**
   * A value for the field `include` of the request. With it, the provider returns the results of
   * the tool.
   */
  include?: string;
  /**
   * Whether a request can limit the uses of this tool. If omitted, only the host's `usesLimit`
   * applies.
   */
  limited?: boolean;
};

/** How an endpoint differs from others of its wire format. */
export type Host = {
  /** Stable and in lower case. Events and logs contain it as `provider`. */
  id: string;
  /** Name shown to users. */
  name: string;
  /**
   * The host names of this row; subdomains are included. Empty if the row is selected only by a
   * backend type.
   */
  suffixes: readonly string[];
  /** Names of the operator's keys for the host. The first one is preferred. */
  keyNames: readonly string[];
  /**
   * The origins that may receive those keys. The origin in `endpointVariable` may receive them too,
   * no other origin.
   */
  origins: readonly string[];
  /**
   * The paths that may receive those keys; omitted if any path may. For keys that give access to
   * more than models.
   */
  keyPath?: RegExp;
  /**
   * Name of the variable in which the operator stores their own endpoint. The origin of that
   * endpoint may receive the keys.
   */
  endpointVariable?: string;
  /** Whether the endpoint may work without a key. */
  keyOptional?: boolean;
  /** The request field that caps output tokens. */
  tokenLimit: "max_tokens" | "max_completion_tokens";
  /**
   * Whether the endpoint supports `tool_choice: "required"`. False if that depends on the model or
   * is undocumented.
   */
  forcesTools: boolean;
  /**
   * Whether thinking models require that their `reasoning_content` is sent back within a round of
   * tool calls.
   */
  wantsReasoningBack: boolean;
  /**
   * Whether a message with tool calls needs an empty string as content. If omitted, the content is
   * `null`, which some endpoints refuse.
   */
  wantsTextWithCalls?: boolean;
  /** Whether tool results must be followed by an assistant message before the next user message. */
  wantsWordAfterResults?: boolean;
  /**
   * The header for the key: `authorization` with `Bearer`, or `api-key`. Only the OpenAI formats
   * read it; the other formats always use the same header.
   */
  auth: "bearer" | "api-key";
  /** Tools that the provider runs itself. The keys are our names of the tools. */
  hostedTools: Readonly<Partial<Record<HostedToolName, HostedToolFacts>>>;
  /**
   * The request field that caps the uses of all hosted tools together; omitted if there is no such
   * field.
   */
  usesLimit?: "max_tool_calls" | "max_turns";
  /**
   * Names of models that return encrypted reasoning, which is sent back later. Other models refuse
   * a request that asks for it. Omitted if no model of the host returns it.
   */
  encryptsReasoning?: RegExp;
  /** Whether requests may name a cache with `prompt_cache_key`. */
  cacheKey?: boolean;
  /**
   * Marks in the content of messages, up to which the host caches a prompt, and the models that
   * take them. Omitted if the host caches without marks, or only in a format that has its own.
   */
  cacheMarks?: { models: RegExp; mark: Readonly<Record<string, unknown>> };
  /**
   * Whether the host can write replies in the background, so that an interrupted stream can be
   * resumed.
   */
  background?: boolean;
};
