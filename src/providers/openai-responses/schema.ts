import { isJsonObject } from "../json";

/**
 * Reads the fields of events and items of the Responses API. Nothing here throws: a field of an
 * unexpected type counts as missing.
 */

export type Fields = Readonly<Record<string, unknown>>;

const NO_FIELDS: Fields = {};

export const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : NO_FIELDS);

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * The index of an item in the output; -1 if there is none. It identifies the item throughout the
 * stream.
 */
export const positionOf = (event: Fields): number =>
  Number.isInteger(event["output_index"]) ? Number(event["output_index"]) : -1;

/**
 * The items of a response; `null` if it lists none. In that case the streamed items are the
 * complete list.
 */
export function outputOf(response: Fields): Fields[] | null {
  const output = response["output"];
  return Array.isArray(output) && output.length > 0 ? output.filter(isJsonObject) : null;
}

export function messageText(item: Fields): string {
  return partsOf(item["content"], "output_text")
    .map((part) => textOf(part["text"]))
    .join("");
}

export const isRefusal = (item: Fields): boolean => partsOf(item["content"], "refusal").length > 0;

/**
 * The visible text of a reasoning item: its summary, or the full reasoning if there is no summary.
 */
export function reasoningText(item: Fields): string {
  const summary = partsOf(item["summary"], "summary_text");
  const parts = summary.length > 0 ? summary : partsOf(item["content"], "reasoning_text");
  return parts.map((part) => textOf(part["text"])).join(PART_BREAK);
}

/** Separator between two parts of the reasoning in one reply. */
export const PART_BREAK = "\n\n";

export function partsOf(parts: unknown, type: string): Fields[] {
  return listOf(parts)
    .map(fieldsOf)
    .filter((part) => part["type"] === type);
}
