/** What a pin is made of: everything of a tool that a model or a person judges it by. */
export type Described = {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema: unknown;
  outputSchema?: unknown;
};

/** SHA-256 in lower-case hex; the order of keys does not matter. */
export const toolHash = ({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
}: Described): Promise<string> =>
  sha256(canonical([name, title ?? null, description ?? null, inputSchema, outputSchema ?? null]));

/** Of a text as UTF-8, in lower-case hex. */
export async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) => (isRecord(item) ? sorted(item) : item));

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const sorted = (record: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
