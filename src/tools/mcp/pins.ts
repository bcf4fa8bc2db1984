/**
 * Pinning: a tool is what it was when it was first seen. A server that changes name, description or schema afterwards may mean harm
 * (what was looked at and allowed was something else), so the tool is switched off, and says so. Pure.
 */

/** SHA-256 of each tool by bare name, at first sight. Plain data; it lies in the session's log. */
export type Pins = Readonly<Record<string, string>>;

/** A tool of a listing: its bare name, and the hash of its name, description and schemas. */
type Pinned = { name: string; hash: string };

type PinCheck<T> = {
  /** As they were at first sight, or new. */
  same: T[];
  /** Another under the name that is pinned. */
  changed: T[];
  /** Pinned, and not in the listing. */
  gone: string[];
  /** The pins from now on: what was pinned stays, what is new is added. */
  pins: Pins;
  /** Names pinned by this listing. */
  added: string[];
};

/**
 * Holds a listing against the pins. A tool that comes back as it was is used again; one that is new is pinned now. Names in
 * `listing` are unique.
 */
export function checkPins<T extends Pinned>(pins: Pins, listing: readonly T[]): PinCheck<T> {
  const known = new Map(Object.entries(pins));
  const added = listing.filter(({ name }) => !known.has(name));
  const names = new Set(listing.map(({ name }) => name));
  return {
    same: listing.filter(({ name, hash }) => (known.get(name) ?? hash) === hash),
    changed: listing.filter(({ name, hash }) => (known.get(name) ?? hash) !== hash),
    gone: [...known.keys()].filter((name) => !names.has(name)),
    // Through entries: a tool called `__proto__` is a name like any other.
    pins: Object.fromEntries([...known, ...added.map(({ name, hash }) => [name, hash] as const)]),
    added: added.map(({ name }) => name),
  };
}

/** What a pin is made of: everything of a tool that a model or a person judges it by. */
type Described = {
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
