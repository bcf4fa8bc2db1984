import type { SimulatedProviders } from "../../../simulated/providers/server";

/**
 * A short conversation through an official SDK, with the same interface for every SDK. A client
 * keeps the history in the types of its format. So the next request contains each reply exactly as
 * the SDK returned it.
 */
export type Client = {
  /** Sends the history and adds the reply to it. */
  ask(): Promise<ReadReply>;
  /** Adds a result for each call of the last reply. `change` may alter the ids of the calls. */
  results(change?: (ids: string[]) => string[]): void;
  /** Adds a user message. */
  say(text: string): void;
  /** Changes the history, as JSON, before the next request. */
  tamper(change: (json: string) => string): void;
  /** Additional fields of all later requests. */
  extra: Record<string, unknown>;
};

/** A reply as the SDK returned it. */
export type ReadReply = {
  text: string;
  reasoning: string;
  calls: { id: string; name: string; arguments: unknown }[];
  /** The finish reason, in the words of the format. */
  finish: string;
  usage: unknown;
  /** Number of stream events with text. */
  pieces: number;
  /** The sources of the text, as JSON. */
  sources: string[];
  /** Types of the items that hosted tools produced. */
  hosted: string[];
};

/** `tools`: names of the offered functions. `searches`: whether hosted tools are offered. */
export type Options = { providers: SimulatedProviders; tools?: string[]; searches?: boolean };

/** The parameters of each offered function. */
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
