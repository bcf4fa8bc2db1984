import { callItem, type Item } from "../../../../simulated/providers/continuity";

/** A simulated model's reply before encoding. */
export type ReplyContent = {
  /** Unique per reply; other ids are derived from it. */
  id: string;
  model: string;
  text: string;
  /** Tool calls. `arguments` may be invalid JSON. */
  calls: readonly { name: string; arguments: string }[];
  /** Web searches that the provider ran before the text. Empty in formats without web search. */
  searches: readonly Search[];
  finish: "stop" | "length" | "content_filter";
  /** Numbers of tokens; `cached` is a part of `input`. `null` if the reply has no usage report. */
  usage: { input: number; output: number; cached: number } | null;
};

/** A web search with its only result. */
export type Search = { query: string; url: string; title: string };

/** An encoded reply. `items`: the parts that a client must send back unchanged. */
type EncodedReply = { frames: string[]; items: Item[] };

/** Encodes a reply in a wire format. */
export type Encoder = (reply: ReplyContent) => EncodedReply;

/**
 * The item of a tool call. If the arguments are not a JSON object, its content is `null`: clients
 * repair such arguments, so any content may be sent back.
 */
export function toCallItem(id: string, name: string, args: string): Item {
  const value = parseOrNull(args);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? callItem(id, name, args) : { kind: "call", id, content: null };
}

/** `null` if the text is not valid JSON. */
function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const CHUNKS = 3;

/** Splits a text into at most `CHUNKS` chunks of the same length; the last one may be shorter. */
export function chunksOf(text: string): string[] {
  const size = Math.max(1, Math.ceil(text.length / CHUNKS));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  );
}

/** A frame of server-sent events with `value` as JSON; `event` is omitted if it has no name. */
export const sseFrame = (value: unknown, event?: string): string =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(value)}\n\n`;
