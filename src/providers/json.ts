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
 * A serialized body for an SDK. While a request waits for its response, the SDK keeps only these
 * bytes and not the object, which can be megabytes. They are bytes because a string with a
 * character outside Latin-1 takes two bytes per character.
 */
export const jsonBody = (body: unknown) => ({
  body: new TextEncoder().encode(JSON.stringify(body)),
  headers: { "content-type": "application/json" },
});
