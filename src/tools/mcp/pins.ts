import { hashOf } from "../../workspace/snapshot";

/**
 * Pins each tool to its first definition. A server that later changes a name, description or schema
 * may be malicious: what a person reviewed was something else. The tool is disabled with that
 * reason. Pure.
 */

/**
 * SHA-256 of each tool's first definition, by bare name. Plain data, stored in the session's log.
 */
export type Pins = Readonly<Record<string, string>>;

/** A listed tool: its bare name, and the hash of its name, description and schemas. */
type PinnedTool = { name: string; hash: string };

type PinCheck<T> = {
  /** Unchanged or new. */
  same: T[];
  /** Different from the pin. */
  changed: T[];
  /** Pinned, but no longer listed. */
  gone: string[];
  /** The pins after this listing: existing ones and new ones. */
  pins: Pins;
  /** Names pinned by this listing. */
  added: string[];
};

/**
 * Compares a listing with the pins. A tool that changes back is used again; new tools are pinned.
 * Names in `listing` are unique.
 */
export function checkPins<T extends PinnedTool>(pins: Pins, listing: readonly T[]): PinCheck<T> {
  const known = new Map(Object.entries(pins));
  const added = listing.filter(({ name }) => !known.has(name));
  const names = new Set(listing.map(({ name }) => name));
  return {
    same: listing.filter(({ name, hash }) => (known.get(name) ?? hash) === hash),
    changed: listing.filter(({ name, hash }) => (known.get(name) ?? hash) !== hash),
    gone: [...known.keys()].filter((name) => !names.has(name)),
    // Via entries, so that a tool called `__proto__` is safe.
    pins: Object.fromEntries([...known, ...added.map(({ name, hash }) => [name, hash] as const)]),
    added: added.map(({ name }) => name),
  };
}

/** The content of a pin: everything that a model or a person judges a tool by. */
type ToolDescription = {
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
}: ToolDescription): Promise<string> =>
  sha256(canonical([name, title ?? null, description ?? null, inputSchema, outputSchema ?? null]));

/** SHA-256 of a text as UTF-8, in lower-case hex. */
export const sha256 = (text: string): Promise<string> => hashOf(new TextEncoder().encode(text));

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) => (isRecord(item) ? sorted(item) : item));

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const sorted = (record: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
