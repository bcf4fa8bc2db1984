import type { Part } from "@google/genai/web";
import { isJsonObject } from "../json";

/**
 * The few fields read from a streamed `GenerateContentResponse`. Nothing here throws: what has another shape than expected
 * counts as absent.
 */

export type Fields = Readonly<Record<string, unknown>>;

export type Chunk = {
  parts: readonly Fields[];
  finishReason: string;
  blockReason: string;
  grounding: Fields | null;
  usage: unknown;
};

/** What of a part must come back unchanged, beside its text or arguments. `id`: the provider's own, where it gave one. */
export type PartMarks = { id?: string; thoughtSignature?: string };

export const fieldsOf = (value: unknown): Fields | null => (isJsonObject(value) ? value : null);

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Only the first candidate is an answer; others are not asked for. */
export function readChunk(value: unknown): Chunk {
  const chunk = fieldsOf(value) ?? {};
  const candidate = fieldsOf(listOf(chunk["candidates"])[0]);
  const first = candidate && (candidate["index"] ?? 0) === 0 ? candidate : {};
  const parts = listOf(fieldsOf(first["content"])?.["parts"]);
  return {
    parts: parts.filter(isJsonObject),
    finishReason: textOf(first["finishReason"]),
    blockReason: textOf(fieldsOf(chunk["promptFeedback"])?.["blockReason"]),
    grounding: fieldsOf(first["groundingMetadata"]),
    usage: chunk["usageMetadata"],
  };
}

/** The marks of a part as it came; those that are absent stay absent. */
export function marksOf(part: Fields, id = ""): PartMarks {
  const thoughtSignature = textOf(part["thoughtSignature"]);
  return { ...(id !== "" && { id }), ...(thoughtSignature !== "" && { thoughtSignature }) };
}

/** The marks kept with a reply item; none if it has none. */
export function readMarks(opaque: unknown): PartMarks {
  const marks = fieldsOf(opaque) ?? {};
  return marksOf(marks, textOf(marks["id"]));
}

/** A part kept whole, to be sent back as it came; null if it is none. */
export function readPart(opaque: unknown): Part | null {
  return isJsonObject(opaque) ? (opaque as Part) : null; // whatever the provider sent is what it takes back
}
