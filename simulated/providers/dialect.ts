import type { ModelInput } from "./model-input";
import type { Item, Mismatch } from "./continuity";
import type { Failure, Reply, ReportedUsage } from "./reply";

/**
 * The interface between simulated models and a wire format: accepted requests, responses and errors
 * of that format's provider.
 */
export type Format = "openai-chat" | "openai-responses" | "anthropic" | "gemini";

export type Json = Record<string, unknown>;

/**
 * A request as received. `path` has no query. `takes`: fields that its host additionally accepts;
 * omitted: none.
 */
export type WireRequest = {
  path: string;
  headers: Readonly<Record<string, string>>;
  body: Json;
  takes?: ReadonlySet<string>;
};

/** A reply with ids of its calls, and its charge. */
export type ChargedReply = Omit<Reply, "calls" | "usage"> & {
  calls: SentCall[];
  usage: ReportedUsage;
};
type SentCall = { id: string; name: string; arguments: string };

/** A piece of a streamed reply. `usage`: it contains the usage. */
export type Piece = { event?: string; data: string; tokens: number; usage: boolean };

/** An accepted request, interpreted and as received. */
export type ReadRequest = { asked: ModelInput; body: Json };
export type WireReply = { pieces: Piece[]; given: Item[] };

export type Dialect = {
  format: Format;
  /** `base_url` of a config, after the origin. */
  basePath: string;
  serves(path: string): boolean;
  /** The model of a request that may otherwise be invalid. */
  modelOf(sent: WireRequest): string;
  /** Throws `Refused` for requests that the provider refuses regardless of the model. */
  read(sent: WireRequest): ModelInput;
  /** The model's own turns in a request, in order, as lists of items. */
  modelTurns(body: Json): Item[][];
  /** The provider's error for a turn that differs from what it sent. */
  mismatchFailure(mismatch: Mismatch): Failure;
  failureBody(failure: Failure): Json;
  /** Prefix of the ids of its calls. */
  callIdPrefix: string;
  /** Completes aimock's output. Returns the pieces, and the items that a client must send back. */
  completeEvents(events: readonly Json[], said: ChargedReply, request: ReadRequest): WireReply;
  /** A reply that is not streamed; omitted if the format is streamed only. */
  whole?(message: Json, usage: ReportedUsage): Json;
};

/** A request that the provider refuses by its own rules, before a model sees it. */
export class RequestRefusal extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message ?? `Refused with status ${failure.status}.`);
    this.name = "Refused";
  }
}
