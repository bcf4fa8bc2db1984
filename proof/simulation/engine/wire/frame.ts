import { callItem, type Item } from "../../../../simulated/providers/continuity";

/** What a simulated model says in one reply, before it is put on the wire. */
export type Spoken = {
  /** Unique to the reply; ids are made of it. */
  id: string;
  model: string;
  text: string;
  calls: readonly { name: string; arguments: string }[];
  /** What its provider searched the web for before; only of formats that have it. */
  searches: readonly Search[];
  finish: "stop" | "length" | "content_filter";
  usage: { input: number; output: number; cached: number } | null;
};

export type Search = { query: string; url: string; title: string };

/** A piece of the stream as bytes. */
export type Wired = { frames: string[]; given: Item[] };

/** How a wire format says a reply. `given`: what a client must bring back unchanged. */
export type Writer = (spoken: Spoken) => Wired;

/** A call as it must come back; what is no object may be mended on the way. */
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

const PIECES = 3;

/** A text in a few pieces. */
export function piecesOf(text: string): string[] {
  const size = Math.max(1, Math.ceil(text.length / PIECES));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  );
}

export const data = (value: unknown, event?: string): string =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(value)}\n\n`;
