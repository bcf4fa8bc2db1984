import { callItem, type Item } from "../../../../simulated/providers/continuity";

/** A simulated model's reply before encoding. */
export type ReplyContent = {
  /** Unique per reply; other ids are derived from it. */
  id: string;
  model: string;
  text: string;
  calls: readonly { name: string; arguments: string }[];
  /** Web searches of the provider before the text; empty in formats without web search. */
  searches: readonly Search[];
  finish: "stop" | "length" | "content_filter";
  usage: { input: number; output: number; cached: number } | null;
};

export type Search = { query: string; url: string; title: string };

/** An encoded reply: frames, and the items that a client must send back unchanged. */
type EncodedReply = { frames: string[]; given: Item[] };

/** Encodes a reply in a wire format. */
export type Writer = (spoken: ReplyContent) => EncodedReply;

/**
 * A call in the form in which it must be sent back. Arguments that are no object may be repaired on
 * the way.
 */
export function givenCall(id: string, name: string, args: string): Item {
  const value = parsed(args);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? callItem(id, name, args) : { kind: "call", id, content: null };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const CHUNKS = 3;

/** Splits a text into a few pieces. */
export function chunksOf(text: string): string[] {
  const size = Math.max(1, Math.ceil(text.length / CHUNKS));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  );
}

export const data = (value: unknown, event?: string): string =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(value)}\n\n`;
