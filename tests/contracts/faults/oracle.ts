import { isJsonObject } from "../../../src/providers/json";

/**
 * The end of a stream, determined only from its bytes and the specification of the formats, without
 * the code of an adapter. It may find an end that an adapter does not find. If it finds no end, no
 * adapter may find one.
 */
type StreamEnd = {
  /** Whether a complete event of the provider says that the reply is complete. */
  ended: boolean;
  /** Why a reply that claims to be complete is not; `null` if it is. */
  objection: string | null;
};

type Fields = Readonly<Record<string, unknown>>;

/** How a format marks a reply as complete or failed. */
export type EndMarks = {
  ends(event: Fields): boolean;
  fails(event: Fields): boolean;
  /** Whether `[DONE]` ends the stream. If omitted, `[DONE]` is ignored. */
  closes?: boolean;
  /** Why the reply cannot end after these earlier events; `null` if it can. */
  objects?(earlierEvents: readonly Fields[]): string | null;
};

export function readEnd(bytes: Buffer, { ends, fails, closes, objects }: EndMarks): StreamEnd {
  const earlierEvents: Fields[] = [];
  for (const data of dataIn(bytes)) {
    const value = parseOrUndefined(data);
    if (closes && data.startsWith("[DONE]")) return { ended: false, objection: null };
    if (data === "[DONE]") continue;
    if (value === undefined)
      return { ended: hasEnd(bytes, ends), objection: "an event before the end is not JSON" };
    if (!isJsonObject(value)) continue;
    if (fails(value))
      return { ended: hasEnd(bytes, ends), objection: "an error arrived before the end" };
    if (ends(value)) return { ended: true, objection: objects?.(earlierEvents) ?? null };
    earlierEvents.push(value);
  }
  return { ended: false, objection: null };
}

const hasEnd = (bytes: Buffer, ends: EndMarks["ends"]): boolean =>
  dataIn(bytes)
    .map(parseOrUndefined)
    .some((value) => isJsonObject(value) && ends(value));

/**
 * The data of each event, by the standard of event streams. Data without a blank line at the end of
 * the stream counts if it is complete JSON.
 */
function dataIn(bytes: Buffer): string[] {
  const events: string[] = [];
  let data: string[] = [];
  // Parsers that decode each line separately drop a byte order mark before each line.
  for (const line of new TextDecoder().decode(bytes).split(/\uFEFF?(?:\r\n|\r|\n)\uFEFF?/)) {
    if (line === "") {
      if (data.length > 0) events.push(data.join("\n"));
      data = [];
    } else if (line === "data" || line.startsWith("data:")) {
      data.push(line.slice("data:".length).replace(/^ /, ""));
    }
  }
  const pending = data.join("\n");
  return parseOrUndefined(pending) === undefined ? events : [...events, pending];
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : {});
const isNonEmptyText = (value: unknown): boolean => typeof value === "string" && value !== "";

export const CHAT_MARKS: EndMarks = {
  ends: ({ choices }) =>
    listOf(choices).some((choice) => isNonEmptyText(fieldsOf(choice)["finish_reason"])),
  closes: true,
  fails: ({ error }) => Boolean(error),
};

export const RESPONSES_MARKS: EndMarks = {
  ends: ({ type }) =>
    type === "response.completed" || type === "response.incomplete" || type === "response.done",
  closes: true,
  fails: ({ type, error }) =>
    type === "error" ||
    type === "response.failed" ||
    type === "response.cancelled" ||
    Boolean(error),
};

export const MESSAGES_MARKS: EndMarks = {
  ends: ({ type, delta, message }) =>
    (type === "message_delta" && isNonEmptyText(fieldsOf(delta)["stop_reason"])) ||
    (type === "message_start" && isNonEmptyText(fieldsOf(message)["stop_reason"])),
  fails: ({ type }) => type === "error",
  objects(earlierEvents) {
    const open = new Set<unknown>();
    for (const { type, index } of earlierEvents) {
      if (type === "content_block_start") open.add(index);
      if (type === "content_block_stop") open.delete(index);
    }
    return open.size > 0 ? "a block was open at the end" : null;
  },
};

export const GEMINI_MARKS: EndMarks = {
  ends: ({ candidates, promptFeedback }) =>
    listOf(candidates).some((candidate) => isNonEmptyText(fieldsOf(candidate)["finishReason"])) ||
    isNonEmptyText(fieldsOf(promptFeedback)["blockReason"]),
  fails: ({ error }) => Boolean(error),
};
