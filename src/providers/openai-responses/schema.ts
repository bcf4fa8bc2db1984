import { isJsonObject } from "../json";

/**
 * The fields that we read from events and items of the Responses API. Nothing here throws: a field
 * of another shape counts as missing.
 */

export type Fields = Readonly<Record<string, unknown>>;

const NONE: Fields = {};

export const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : NONE);

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * The index of an item in the output, which identifies it throughout the stream; -1 if there is
 * none.
 */
export const positionOf = (event: Fields): number =>
  Number.isInteger(event["output_index"]) ? Number(event["output_index"]) : -1;

/** The items of a response; `null` if it lists none. Then the streamed items are complete. */
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

/** The visible text of a reasoning item: its summary, or all of it if the provider sends that. */
export function reasoningText(item: Fields): string {
  const summary = partsOf(item["summary"], "summary_text");
  const parts = summary.length > 0 ? summary : partsOf(item["content"], "reasoning_text");
  return parts.map((part) => textOf(part["text"])).join(PART_BREAK);
}

/** Separator between two parts of one reasoning. */
export const PART_BREAK = "\n\n";

export function partsOf(parts: unknown, type: string): Fields[] {
  return listOf(parts)
    .map(fieldsOf)
    .filter((part) => part["type"] === type);
}
