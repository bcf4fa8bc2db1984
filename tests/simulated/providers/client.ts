import type { SimulatedProviders } from "../../../simulated/providers/server";

/**
 * The same short conversation through every official SDK: a question, then results for the calls of
 * each reply. A client keeps its history in the types of its format, so the next request repeats a
 * reply exactly as the SDK returned it.
 */
export type Client = {
  ask(): Promise<ReadReply>;
  /** Adds a result for each call of the last reply. `change` may alter the ids of the calls. */
  results(change?: (ids: string[]) => string[]): void;
  say(text: string): void;
  /** Changes the history, as JSON, before the next request. */
  tamper(change: (json: string) => string): void;
  /** Fields added to the next requests. */
  extra: Record<string, unknown>;
};

/** One reply, as a client read it. */
export type ReadReply = {
  text: string;
  reasoning: string;
  calls: { id: string; name: string; arguments: unknown }[];
  finish: string;
  usage: unknown;
  /** Number of stream events with text. */
  pieces: number;
  sources: string[];
  /** Types of the items that hosted tools produced. */
  hosted: string[];
};

export type Options = { providers: SimulatedProviders; tools?: string[]; searches?: boolean };

/** Parameters of every function that a client offers. */
export const PARAMETERS = { type: "object", properties: { content: { type: "string" } } } as const;

export const emptyReply = (): ReadReply => ({
  text: "",
  reasoning: "",
  calls: [],
  finish: "",
  usage: null,
  pieces: 0,
  sources: [],
  hosted: [],
});
