import type { Asked } from "./asked";
import type { Item, Mismatch } from "./continuity";
import type { Failure, Reply, ReportedUsage } from "./reply";

/** The seam between the simulated models and a wire format: what a provider of that format takes, gives and refuses. */
export type Format = "openai-chat" | "openai-responses" | "anthropic" | "gemini";

export type Json = Record<string, unknown>;

/** A request as it came. `path` is without its query; `takes`: fields that its host takes besides those of the format's maker; absent: none. */
export type Sent = {
  path: string;
  headers: Readonly<Record<string, string>>;
  body: Json;
  takes?: ReadonlySet<string>;
};

/** A reply whose calls have ids, and what it is charged. */
export type Said = Omit<Reply, "calls" | "usage"> & { calls: SaidCall[]; usage: ReportedUsage };
export type SaidCall = { id: string; name: string; arguments: string };

/** A piece of a streamed reply. `usage`: this piece tells the client what it is charged. */
export type Piece = { event?: string; data: string; tokens: number; usage: boolean };

/** A request that is to be answered, read and as it came. */
export type Read = { asked: Asked; body: Json };
export type Dressed = { pieces: Piece[]; given: Item[] };

export type Dialect = {
  format: Format;
  /** What a config names as `base_url`, after the origin. */
  basePath: string;
  serves(path: string): boolean;
  /** The model named by a request that may be wrong in everything else. */
  modelOf(sent: Sent): string;
  /** Throws `Refused` for what the provider would refuse whatever its model says. */
  read(sent: Sent): Asked;
  /** The model's own turns in a request, in order, each as the items it holds. */
  broughtBack(body: Json): Item[][];
  /** How the provider says that a turn is not what it gave. */
  complaint(mismatch: Mismatch): Failure;
  failureBody(failure: Failure): Json;
  /** Beginning of the ids of its calls. */
  callIdPrefix: string;
  /** Completes what aimock wrote. Gives the pieces, and the items a client must bring back. */
  dress(events: readonly Json[], said: Said, request: Read): Dressed;
  /** A reply that is not streamed; absent: the format is served streamed only. */
  whole?(message: Json, usage: ReportedUsage): Json;
};

/** A request that the provider refuses by its own rules, before any model sees it. */
export class Refused extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message ?? `Refused with status ${failure.status}.`);
    this.name = "Refused";
  }
}
