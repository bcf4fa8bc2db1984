import { isJsonObject } from "../json";

/**
 * Reads the fields of a Chat Completions chunk. Compatible servers omit almost any field, rename it
 * or set it to null. So nothing here throws: a field of an unexpected type counts as missing.
 */

export type Fields = Readonly<Record<string, unknown>>;

/** `finishReason` is "" if missing. `usage` is not yet validated; some servers send it here. */
export type Choice = { delta: Fields; finishReason: string; usage: unknown };
export type Chunk = { choice: Choice | null; usage: unknown };

/**
 * A piece of a tool call. `index` is `null` if the server sends none. `extra` is server-specific
 * data that must be sent back; `null` if there is none.
 */
export type CallPiece = {
  index: number | null;
  id: string;
  name: string;
  arguments: string;
  extra: Fields | null;
};

export const fieldsOf = (value: unknown): Fields | null => (isJsonObject(value) ? value : null);

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * The fields of a chunk. Only the first choice is read. A server that ignores `stream` sends
 * `message` instead of `delta`.
 */
export function readChunk(value: unknown): Chunk {
  const chunk = fieldsOf(value) ?? {};
  const choice = fieldsOf(listOf(chunk["choices"])[0]);
  const first = choice && (choice["index"] ?? 0) === 0 ? choice : null;
  return {
    choice: first && {
      delta: fieldsOf(first["delta"]) ?? fieldsOf(first["message"]) ?? {},
      finishReason: textOf(first["finish_reason"]),
      usage: first["usage"],
    },
    usage: chunk["usage"] ?? fieldsOf(chunk["x_groq"])?.["usage"],
  };
}

/** The text of a delta. `thinking` parts of the content are reasoning, not text. */
export function readText(delta: Fields): string {
  const content = delta["content"];
  if (typeof content === "string") return content;
  return listOf(content).map(partText).join("");
}

/**
 * The text of the first reasoning field that is not empty. Servers that send two such fields send
 * the same text twice.
 */
export function readReasoning(delta: Fields): string {
  return (
    textOf(delta["reasoning_content"]) ||
    textOf(delta["reasoning"]) ||
    listOf(delta["reasoning_details"]).map(detailText).join("") ||
    (Array.isArray(delta["content"]) ? delta["content"].map(thinkingText).join("") : "")
  );
}

/** The pieces of tool calls in a delta. Older servers send one call as `function_call`. */
export function readCalls(delta: Fields): CallPiece[] {
  const calls = delta["tool_calls"];
  if (Array.isArray(calls)) return calls.map((call) => callPiece(fieldsOf(call) ?? {}));
  const legacy = fieldsOf(delta["function_call"]);
  return legacy ? [callPiece({ index: 0, function: legacy })] : [];
}

function callPiece(call: Fields): CallPiece {
  const fn = fieldsOf(call["function"]) ?? {};
  return {
    index: Number.isInteger(call["index"]) ? Number(call["index"]) : null,
    id: textOf(call["id"]),
    name: textOf(fn["name"]),
    arguments: fieldsOf(fn["arguments"])
      ? JSON.stringify(fn["arguments"])
      : textOf(fn["arguments"]),
    extra: fieldsOf(call["extra_content"]),
  };
}

function partText(part: unknown): string {
  const fields = fieldsOf(part);
  return fields?.["type"] === "text" ? textOf(fields["text"]) : "";
}

function thinkingText(part: unknown): string {
  const fields = fieldsOf(part);
  if (fields?.["type"] !== "thinking") return "";
  return textOf(fields["thinking"]) || listOf(fields["thinking"]).map(partText).join("");
}

function detailText(detail: unknown): string {
  const fields = fieldsOf(detail);
  return textOf(fields?.["text"]) || textOf(fields?.["summary"]);
}
