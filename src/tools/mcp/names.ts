import { WORKFLOW_TOOLS } from "../../coordination/tool/offers";
import { MAX_NAME_CHARS } from "./server-limits";
import { hasUnseen } from "./shown-text";
import { sha256 } from "./pins";

/** Names of MCP tools. */

/** Tools with longer names are refused, because names are not cut. */
const MAX_BARE_CHARS = 128;

const RESERVED: ReadonlySet<string> = new Set(WORKFLOW_TOOLS);

/** Why a tool with this name is not offered, as a clause; `null` if it may be. */
export function nameProblem(name: string): string | null {
  if (name.trim() === "") return "it has no name";
  if (name.length > MAX_BARE_CHARS) return `its name has more than ${MAX_BARE_CHARS} characters`;
  if (hasUnseen(name)) return "its name holds characters that cannot be seen";
  if (RESERVED.has(name.normalize("NFKC").trim().toLowerCase()))
    return "its name is that of one of the coordination's own tools";
  return null;
}

/**
 * The name that models use: `mcp__{server}__{tool}` if every provider accepts it and it is
 * unambiguous; otherwise a valid prefix of it and a hash. It depends only on server and tool, and
 * is unique. So an offered name means the same tool in every listing, order and connection.
 */
export async function fullName(server: string, tool: string): Promise<string> {
  const name = escaped(written(server, tool));
  // In a plain name, the first `__` after the prefix ends the server, and nothing looks like a
  // hash.
  const isPlain =
    name === written(server, tool) && name.length <= MAX_NAME_CHARS && !`${server}_`.includes("__");
  if (isPlain && !isMarked(name)) return name;
  const mark = await markOf(server, tool);
  return name.slice(0, MAX_NAME_CHARS - mark.length) + mark;
}

const MARK_DIGITS = 25;
const MARKED = new RegExp(`_[0-9a-z]{${MARK_DIGITS}}$`);
const isMarked = (name: string): boolean => MARKED.test(name);

/** 128 bits of SHA-256: servers choose tool names and must not find a collision. */
async function markOf(server: string, tool: string): Promise<string> {
  const digest = await sha256(JSON.stringify([server, tool]));
  const number = BigInt(`0x${digest.slice(0, 32)}`);
  return `_${number.toString(36).padStart(MARK_DIGITS, "0")}`;
}

const PREFIX = "mcp__";
const written = (server: string, tool: string): string => `${PREFIX}${server}__${tool}`;
const escaped = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, "_");

/** A tool for filters: its server's name, its own name, and its full name. */
export type ToolNames = { server: string; tool: string; name: string };

/**
 * Whether a list allows this tool, by its bare name, full name, or server and tool as written. An
 * entry with a hash is a full name. An entry that could also mean a tool of another of `servers`
 * allows neither: use the bare name.
 */
export function isAllowed(
  list: readonly string[],
  { server, tool, name }: ToolNames,
  servers: readonly string[],
): boolean {
  return list.some((entry) => {
    if (!entry.startsWith(PREFIX)) return entry === tool;
    if (isMarked(entry)) return entry === name;
    return (
      entry === written(server, tool) &&
      !servers.some((other) => other !== server && entry.startsWith(written(other, "")))
    );
  });
}

/** Whether a list excludes this tool, under any interpretation of an entry. */
export function isExcluded(list: readonly string[], { server, tool, name }: ToolNames): boolean {
  const names = [tool, name, written(server, tool), escaped(written(server, tool))];
  return list.some((entry) => names.includes(entry));
}
