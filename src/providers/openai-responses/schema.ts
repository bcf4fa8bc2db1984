import { isJsonObject } from "../json";

/**
 * The few fields read from events and items of the Responses API. Nothing here throws: what has another shape counts as absent.
 */

export type Fields = Readonly<Record<string, unknown>>;

const NONE: Fields = {};

export const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : NONE);

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The position of an item in the reply's output, which names it throughout the stream; -1 where there is none. */
export const positionOf = (event: Fields): number =>
  Number.isInteger(event["output_index"]) ? Number(event["output_index"]) : -1;

/** The items of a response, or null if it lists none: then those that the stream gave are all there is. */
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

/** What is shown of a reasoning item: its summary, or where the provider tells more, all of it. */
export function reasoningText(item: Fields): string {
  const said = partsOf(item["summary"], "summary_text");
  const parts = said.length > 0 ? said : partsOf(item["content"], "reasoning_text");
  return parts.map((part) => textOf(part["text"])).join(PART_BREAK);
}

/** What stands between two parts of one reasoning. */
export const PART_BREAK = "\n\n";

export function partsOf(parts: unknown, type: string): Fields[] {
  return listOf(parts)
    .map(fieldsOf)
    .filter((part) => part["type"] === type);
}
