import { isJsonObject } from "../../../src/providers/json";

/**
 * The end of a stream by its bytes alone, read by the specification of the formats and without any
 * adapter's code. It errs only on one side: if it finds no end, no adapter may find one.
 */
type StreamEnd = {
  /** Whether a complete event of the provider says that the reply is complete. */
  ended: boolean;
  /** Why a reply that claims to be complete is not; `null` if it is. */
  objection: string | null;
};

type Fields = Readonly<Record<string, unknown>>;

/** How a format marks a reply as complete or failed. `before`: the earlier events. */
export type EndMarks = {
  ends(event: Fields): boolean;
  fails(event: Fields): boolean;
  /** Whether `[DONE]` is the end of the stream; ignored if omitted. */
  closes?: boolean;
  /** Why the reply cannot end after these events; `null` if it can. */
  objects?(before: readonly Fields[]): string | null;
};

export function readEnd(bytes: Buffer, { ends, fails, closes, objects }: EndMarks): StreamEnd {
  const before: Fields[] = [];
  for (const data of dataIn(bytes)) {
    const value = parsed(data);
    if (closes && data.startsWith("[DONE]")) return { ended: false, objection: null };
    if (data === "[DONE]") continue;
    if (value === undefined)
      return { ended: hasEnd(bytes, ends), objection: "an event before the end is no JSON" };
    if (!isJsonObject(value)) continue;
    if (fails(value))
      return { ended: hasEnd(bytes, ends), objection: "an error came before the end" };
    if (ends(value)) return { ended: true, objection: objects?.(before) ?? null };
    before.push(value);
  }
  return { ended: false, objection: null };
}

const hasEnd = (bytes: Buffer, ends: EndMarks["ends"]): boolean =>
  dataIn(bytes)
    .map(parsed)
    .some((value) => isJsonObject(value) && ends(value));

/**
 * The data of each event, by the standard of event streams. Pending data at the end counts if it is
 * complete JSON.
 */
function dataIn(bytes: Buffer): string[] {
  const events: string[] = [];
  let data: string[] = [];
  // Parsers that decode line by line drop a byte order mark before each.
  for (const line of new TextDecoder().decode(bytes).split(/\uFEFF?(?:\r\n|\r|\n)\uFEFF?/)) {
    if (line === "") {
      if (data.length > 0) events.push(data.join("\n"));
      data = [];
    } else if (line === "data" || line.startsWith("data:")) {
      data.push(line.slice("data:".length).replace(/^ /, ""));
    }
  }
  const pending = data.join("\n");
  return parsed(pending) === undefined ? events : [...events, pending];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : {});
const isWord = (value: unknown): boolean => typeof value === "string" && value !== "";

export const CHAT_MARKS: EndMarks = {
  ends: ({ choices }) =>
    listOf(choices).some((choice) => isWord(fieldsOf(choice)["finish_reason"])),
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
    (type === "message_delta" && isWord(fieldsOf(delta)["stop_reason"])) ||
    (type === "message_start" && isWord(fieldsOf(message)["stop_reason"])),
  fails: ({ type }) => type === "error",
  objects(before) {
    const open = new Set<unknown>();
    for (const { type, index } of before) {
      if (type === "content_block_start") open.add(index);
      if (type === "content_block_stop") open.delete(index);
    }
    return open.size > 0 ? "a block was open at the end" : null;
  },
};

export const GEMINI_MARKS: EndMarks = {
  ends: ({ candidates, promptFeedback }) =>
    listOf(candidates).some((one) => isWord(fieldsOf(one)["finishReason"])) ||
    isWord(fieldsOf(promptFeedback)["blockReason"]),
  fails: ({ error }) => Boolean(error),
};
