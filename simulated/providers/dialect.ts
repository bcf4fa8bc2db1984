import type { ModelInput } from "./model-input";
import type { Item, Mismatch } from "./continuity";
import type { PromptBlock, PromptCache } from "./prompt-cache";
import type { Failure, Reply, ReportedUsage } from "./reply";

/** Wire formats. A `Dialect` is the interface between simulated models and one of them. */
export type Format = "openai-chat" | "openai-responses" | "anthropic" | "gemini";

export type Json = Record<string, unknown>;

/** A request as received. */
export type WireRequest = {
  /** Without the query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body: Json;
  /** Fields that the request's host accepts in addition to the format. Omitted: none. */
  acceptedFields?: ReadonlySet<string>;
};

/** A reply whose calls have ids, with the usage that the provider charges. */
export type ChargedReply = Omit<Reply, "calls" | "usage"> & {
  calls: SentCall[];
  usage: ReportedUsage;
};
type SentCall = { id: string; name: string; arguments: string };

/**
 * One event of a streamed reply. `tokens`: number of output tokens in it. `usage`: whether it
 * contains the usage.
 */
export type Piece = { event?: string; data: string; tokens: number; usage: boolean };

/** An accepted request: `asked` is the part that a model reads, `body` the body as received. */
export type ReadRequest = { asked: ModelInput; body: Json };
/** The events of a reply, and the items that a client must send back unchanged. */
export type WireReply = { pieces: Piece[]; originalItems: Item[] };

/** The requests, responses and errors of the provider that defines a wire format. */
export type Dialect = {
  format: Format;
  /** The path in the `base_url` of a config. */
  basePath: string;
  /** Whether requests with this path use this format. */
  serves(path: string): boolean;
  /** The name of the requested model. Also works for invalid requests. */
  modelOf(sent: WireRequest): string;
  /** Throws a `RequestRefusal` for requests that the provider refuses regardless of the model. */
  read(sent: WireRequest): ModelInput;
  /** The prompt of a request in the order in which the provider caches it. */
  promptBlocks(request: ReadRequest): PromptBlock[];
  /** An empty prompt cache with the provider's rules for a model. */
  newPromptCache(model: string): PromptCache;
  /** The model's own turns in a request, in order, as lists of items. */
  modelTurns(body: Json): Item[][];
  /** The provider's error for a turn that differs from the reply that the provider sent. */
  mismatchFailure(mismatch: Mismatch): Failure;
  /** The body of an error response in this format. */
  failureBody(failure: Failure): Json;
  /** Prefix of the ids that the provider generates for tool calls. */
  callIdPrefix: string;
  /** Adds the parts of the format that aimock omits to aimock's events. */
  completeEvents(
    events: readonly Json[],
    chargedReply: ChargedReply,
    request: ReadRequest,
  ): WireReply;
  /** Completes a reply that is not streamed. Omitted if the format is streamed only. */
  whole?(message: Json, usage: ReportedUsage): Json;
};

/** A request that the provider refuses by its own rules, before a model sees it. */
export class RequestRefusal extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message ?? `Refused with status ${failure.status}.`);
    this.name = "Refused";
  }
}
