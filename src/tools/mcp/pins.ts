import { hashOf } from "../../workspace/snapshot";

/**
 * A pin is the hash of a tool's first definition. A server that changes the definition later may be
 * malicious: a person may have reviewed only the first definition. A changed tool is not offered.
 */

/** The pins of one server's tools, by bare name. Plain data, stored in the session's log. */
export type Pins = Readonly<Record<string, string>>;

/** A listed tool: its bare name, and the hash of its name, description and schemas. */
type PinnedTool = { name: string; hash: string };

type PinCheck<T> = {
  /** Tools that are new or equal to their pins. */
  same: T[];
  /** Tools that differ from their pins. */
  changed: T[];
  /** Names of tools that have a pin but are no longer listed. */
  gone: string[];
  /** The pins after this listing: existing pins and new pins. */
  pins: Pins;
  /** Names of the tools that this listing has pinned. */
  added: string[];
};

/**
 * Compares a listing with the pins. New tools are pinned. A tool that changes back to its first
 * definition is used again. Names in `listing` must be unique.
 */
export function checkPins<T extends PinnedTool>(pins: Pins, listing: readonly T[]): PinCheck<T> {
  const known = new Map(Object.entries(pins));
  const added = listing.filter(({ name }) => !known.has(name));
  const names = new Set(listing.map(({ name }) => name));
  return {
    same: listing.filter(({ name, hash }) => (known.get(name) ?? hash) === hash),
    changed: listing.filter(({ name, hash }) => (known.get(name) ?? hash) !== hash),
    gone: [...known.keys()].filter((name) => !names.has(name)),
    // `fromEntries` also sets an own property for a tool with the name `__proto__`.
    pins: Object.fromEntries([...known, ...added.map(({ name, hash }) => [name, hash] as const)]),
    added: added.map(({ name }) => name),
  };
}

/**
 * The parts of a tool that its pin includes: all parts from which a model or person knows the tool.
 */
type ToolDescription = {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema: unknown;
  outputSchema?: unknown;
};

/** The SHA-256 of a tool's definition, in lower-case hex. The order of keys does not matter. */
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
