import type { HostedToolName } from "../protocol/hosted-tools";

/** What is known of a tool that a provider runs itself. */
export type HostedToolFacts = {
  /** How it is called in requests. */
  wireName: string;
  /** US dollars of one use; null: unknown. */
  usdPerUse: number | null;
  /** Models of which one use costs more. */
  dearer?: { models: RegExp; usdPerUse: number };
  /** Input tokens that the results of one use may add to the call: a cautious guess where the provider names no bound. */
  tokensPerUse: number;
  /** What else its entry among the tools of a request must hold. */
  wireFields?: Readonly<Record<string, unknown>>;
  /** What must be asked for so that its results are shown. */
  include?: string;
  /** Whether a request can limit its uses by itself; absent: only as far as the host's `usesLimit` limits all. */
  limited?: boolean;
};

/** How an endpoint differs from others of its wire format. */
export type Host = {
  /** Stable, lower case; the `provider` of events and logs. */
  id: string;
  /** For people. */
  name: string;
  /** Host names this row is for: the name itself or anything below it. None: only a backend type leads to it. */
  suffixes: readonly string[];
  /** Names of the operator's keys for it, the preferred one first. */
  keyNames: readonly string[];
  /** The only origins those keys may be sent to, besides that of `endpointVariable`. */
  origins: readonly string[];
  /** The only paths those keys may be sent to; absent: any. For keys that open more than models. */
  keyPath?: RegExp;
  /** The operator's variable that holds an endpoint of theirs, to whose origin the keys are bound. */
  endpointVariable?: string;
  /** Whether it may well want no key. */
  keyOptional?: boolean;
  /** How the cap on output tokens is called. */
  tokenLimit: "max_tokens" | "max_completion_tokens";
  /** Whether `tool_choice: "required"` is understood; where it depends on the model, or nobody says, it is not used. */
  forcesTools: boolean;
  /** Whether thinking models must get their own `reasoning_content` back within a round of tool calls. */
  wantsReasoningBack: boolean;
  /** Whether calls without text must stand beside an empty text, as null is refused there; absent: null, as elsewhere that is. */
  wantsTextWithCalls?: boolean;
  /** Whether nobody may speak right after the results of tools but the model. */
  wantsWordAfterResults?: boolean;
  /** The header that carries the key, with `Bearer ` before it or alone; for formats that leave it to the endpoint. */
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
