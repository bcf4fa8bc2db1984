import { isJsonObject } from "../json";

/**
 * The few fields read from a Chat Completions chunk. Servers that call themselves compatible leave out, rename or null almost
 * anything, so nothing here throws: what has another shape counts as absent.
 */

export type Fields = Readonly<Record<string, unknown>>;

export type Choice = { delta: Fields; finishReason: string; usage: unknown };
export type Chunk = { choice: Choice | null; usage: unknown };

/** A piece of a tool call. `index` is null where the server sends none. `extra` is its own and wants to go back; null: nothing. */
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

/** Only the first choice is an answer; a server that ignores `stream` sends `message` where `delta` belongs. */
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

/** What the model says; `thinking` parts among the content are reasoning. */
export function readText(delta: Fields): string {
  const content = delta["content"];
  if (typeof content === "string") return content;
  return listOf(content).map(partText).join("");
}

/** The first spelling of reasoning that holds something: servers that send two send the same text twice. */
export function readReasoning(delta: Fields): string {
  return (
    textOf(delta["reasoning_content"]) ||
    textOf(delta["reasoning"]) ||
    listOf(delta["reasoning_details"]).map(detailText).join("") ||
    (Array.isArray(delta["content"]) ? delta["content"].map(thinkingText).join("") : "")
  );
}

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
