import type { HostedToolName } from "../protocol/hosted-tools";

/** A tool that the provider runs itself. */
export type HostedToolFacts = {
  /** Its name in requests. */
  wireName: string;
  /** US dollars per use; `null` if unknown. */
  usdPerUse: number | null;
  /** Models for which a use costs more. */
  surcharge?: { models: RegExp; usdPerUse: number };
  /**
   * Input tokens that the results of one use may add to the call. A safe estimate if the provider
   * documents no bound.
   */
  tokensPerUse: number;
  /** Further required fields of its entry in a request's tools. */
  wireFields?: Readonly<Record<string, unknown>>;
  /** Value of the request's `include` that makes the provider return the results. */
  include?: string;
  /**
   * Whether a request can limit the uses of this tool. If omitted, only the host's `usesLimit`
   * applies.
   */
  limited?: boolean;
};

/** How an endpoint differs from others of its wire format. */
export type Host = {
  /** Stable, lower case. It is the `provider` in events and logs. */
  id: string;
  /** Name shown to users. */
  name: string;
  /**
   * Host names of this row, each with its subdomains. Empty if only a backend type selects the row.
   */
  suffixes: readonly string[];
  /** Names of the operator's keys for the host, the preferred one first. */
  keyNames: readonly string[];
  /** The only origins that may receive those keys, besides the origin in `endpointVariable`. */
  origins: readonly string[];
  /**
   * The only paths that may receive those keys; omitted if any may. For keys that grant more than
   * access to models.
   */
  keyPath?: RegExp;
  /** The operator's variable with their own endpoint. Its origin may receive the keys. */
  endpointVariable?: string;
  /** Whether the endpoint may work without a key. */
  keyOptional?: boolean;
  /** The request field that caps output tokens. */
  tokenLimit: "max_tokens" | "max_completion_tokens";
  /**
   * Whether `tool_choice: "required"` is supported. False if it depends on the model or is
   * undocumented.
   */
  forcesTools: boolean;
  /**
   * Whether thinking models require their own `reasoning_content` back within a round of tool
   * calls.
   */
  wantsReasoningBack: boolean;
  /**
   * Whether a message with tool calls needs an empty string as content because `null` is refused.
   * Omitted: `null` is sent.
   */
  wantsTextWithCalls?: boolean;
  /** Whether only an assistant message may follow tool results. */
  wantsWordAfterResults?: boolean;
  /**
   * The header for the key: `authorization` with `Bearer`, or `api-key`. Used by formats that leave
   * it to the endpoint.
   */
  auth: "bearer" | "api-key";
  /** Tools that the provider runs itself, by our names. */
  hostedTools: Readonly<Partial<Record<HostedToolName, HostedToolFacts>>>;
  /**
   * The request field that caps the uses of all hosted tools together; omitted if there is no such
   * field.
   */
  usesLimit?: "max_tool_calls" | "max_turns";
  /**
   * Models that return encrypted reasoning, to be sent back. Other models refuse the request for
   * it. Omitted: none.
   */
  encryptsReasoning?: RegExp;
  /**
   * Whether the host can write replies in the background, so that an interrupted stream can be
   * resumed.
   */
  background?: boolean;
};
