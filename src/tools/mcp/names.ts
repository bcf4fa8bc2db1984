import { WORKFLOW_TOOLS } from "../../coordination/tool/offers";
import { MAX_NAME_CHARS } from "./server-limits";
import { hasInvisible } from "./shown-text";
import { sha256 } from "./pins";

/** Maximum length of a tool's own name. A longer name is not cut; the tool is refused. */
const MAX_BARE_CHARS = 128;

const RESERVED: ReadonlySet<string> = new Set(WORKFLOW_TOOLS);

/** Why a tool with this name is not offered, as a clause; `null` if it may be offered. */
export function nameProblem(name: string): string | null {
  if (name.trim() === "") return "it has no name";
  if (name.length > MAX_BARE_CHARS) return `its name has more than ${MAX_BARE_CHARS} characters`;
  if (hasInvisible(name)) return "its name holds characters that cannot be seen";
  if (RESERVED.has(name.normalize("NFKC").trim().toLowerCase()))
    return "its name is that of one of the coordination's own tools";
  return null;
}

/**
 * The name of a tool for models. It is `mcp__{server}__{tool}` if each provider accepts this name
 * and the name is unambiguous. Otherwise it is a valid prefix of this name and a hash. The name is
 * unique and depends only on the server and the tool. So an offered name means the same tool in
 * each listing, in any order, and on each connection.
 */
export async function fullName(server: string, tool: string): Promise<string> {
  const name = replaceInvalid(plainName(server, tool));
  // In a plain name, the first `__` after the prefix is the end of the server's name, and the name
  // does not end like a hash.
  const isPlain =
    name === plainName(server, tool) &&
    name.length <= MAX_NAME_CHARS &&
    !`${server}_`.includes("__");
  if (isPlain && !hasHash(name)) return name;
  const suffix = await hashSuffix(server, tool);
  return name.slice(0, MAX_NAME_CHARS - suffix.length) + suffix;
}

const HASH_DIGITS = 25;
const HASH_SUFFIX = new RegExp(`_[0-9a-z]{${HASH_DIGITS}}$`);
const hasHash = (name: string): boolean => HASH_SUFFIX.test(name);

/**
 * 128 bits of SHA-256: a server chooses its tool names and must not be able to find a collision.
 */
async function hashSuffix(server: string, tool: string): Promise<string> {
  const digest = await sha256(JSON.stringify([server, tool]));
  const number = BigInt(`0x${digest.slice(0, 32)}`);
  return `_${number.toString(36).padStart(HASH_DIGITS, "0")}`;
}

const PREFIX = "mcp__";
/** The name before invalid characters are replaced and a hash is added. */
const plainName = (server: string, tool: string): string => `${PREFIX}${server}__${tool}`;
const replaceInvalid = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, "_");

/** The names of a tool, for filters. `tool` is its own (bare) name, `name` is its full name. */
export type ToolNames = { server: string; tool: string; name: string };

/**
 * Whether a list allows this tool. An entry may be the bare name, the full name, or
 * `mcp__{server}__{tool}`. An entry with a hash is a full name. An entry that could also mean a
 * tool of another server in `servers` allows neither tool; in this case, the config must use the
 * bare name.
 */
export function isAllowed(
  list: readonly string[],
  { server, tool, name }: ToolNames,
  servers: readonly string[],
): boolean {
  return list.some((entry) => {
    if (!entry.startsWith(PREFIX)) return entry === tool;
    if (hasHash(entry)) return entry === name;
    return (
      entry === plainName(server, tool) &&
      !servers.some((other) => other !== server && entry.startsWith(plainName(other, "")))
    );
  });
}

/** Whether a list excludes this tool. An entry excludes each tool that it could mean. */
export function isExcluded(list: readonly string[], { server, tool, name }: ToolNames): boolean {
  const names = [tool, name, plainName(server, tool), replaceInvalid(plainName(server, tool))];
  return list.some((entry) => names.includes(entry));
}
