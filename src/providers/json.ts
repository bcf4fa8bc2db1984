/** Whether a parsed value is a JSON object, so that its fields may be looked at. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The parsed text, or undefined if it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * A body for an SDK that is JSON already, in bytes, so that it keeps those while it waits for an answer, and not what they were
 * made of as well: each may be megabytes, and a text takes two bytes a character if any of them is beyond Latin-1.
 */
export const jsonBody = (body: unknown) => ({
  body: new TextEncoder().encode(JSON.stringify(body)),
  headers: { "content-type": "application/json" },
});
