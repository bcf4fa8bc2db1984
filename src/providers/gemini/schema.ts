import type { Part } from "@google/genai/web";
import { isJsonObject } from "../json";

/**
 * Reads the fields of a streamed `GenerateContentResponse`. Nothing here throws: a field of an
 * unexpected type counts as missing.
 */

export type Fields = Readonly<Record<string, unknown>>;

/** Texts are "" and `grounding` is `null` if the chunk has none. `usage` is not yet validated. */
export type Chunk = {
  parts: readonly Fields[];
  finishReason: string;
  blockReason: string;
  grounding: Fields | null;
  usage: unknown;
};

/**
 * Fields of a part that must be sent back unchanged, besides its text or arguments. `id` is the id
 * of the provider; omitted if it sent none.
 */
export type PartMarks = { id?: string; thoughtSignature?: string };

export const fieldsOf = (value: unknown): Fields | null => (isJsonObject(value) ? value : null);

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The fields of a chunk. Only the first candidate is read; requests ask for one. */
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

/** The marks of a received part. Missing marks are omitted. */
export function marksOf(part: Fields, id = ""): PartMarks {
  const thoughtSignature = textOf(part["thoughtSignature"]);
  return { ...(id !== "" && { id }), ...(thoughtSignature !== "" && { thoughtSignature }) };
}

/** The marks stored with a reply item; an empty object if it has none. */
export function readMarks(opaque: unknown): PartMarks {
  const marks = fieldsOf(opaque) ?? {};
  return marksOf(marks, textOf(marks["id"]));
}

/** A part that was stored as a whole to be sent back; `null` if the value is not a part. */
export function readPart(opaque: unknown): Part | null {
  // the provider accepts its own parts unchanged
  return isJsonObject(opaque) ? (opaque as Part) : null;
}
