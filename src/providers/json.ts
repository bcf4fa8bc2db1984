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
 * A body for an SDK that is JSON already, so that it keeps one text while it waits for an answer, and not what the text was made
 * of as well: each may be megabytes.
 */
export const jsonBody = (body: unknown) => ({ body: JSON.stringify(body), headers: { "content-type": "application/json" } });
