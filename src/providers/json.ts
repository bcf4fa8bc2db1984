/** Whether a parsed value is a JSON object. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The parsed text; `undefined` if it is not valid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * A serialized body for an SDK. While a request waits for its answer, the SDK keeps only these
 * bytes, not the object they were made of: a body can be megabytes. Bytes, because a string takes
 * two bytes per character if one is beyond Latin-1.
 */
export const jsonBody = (body: unknown) => ({
  body: new TextEncoder().encode(JSON.stringify(body)),
  headers: { "content-type": "application/json" },
});
