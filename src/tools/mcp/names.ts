import { WORKFLOW_TOOLS } from "../../coordination/tool/offers";
import { MAX_NAME_CHARS } from "./limits";
import { hasUnseen } from "./shown-text";
import { sha256 } from "./pins";

/** What tools of MCP servers are called. */

/** Longer names are not cut: their tools are refused. */
const MAX_BARE_CHARS = 128;

const RESERVED: ReadonlySet<string> = new Set(WORKFLOW_TOOLS);

/** Why a tool of this name is not offered, as a clause; null: it may be. */
export function nameProblem(name: string): string | null {
  if (name.trim() === "") return "it has no name";
  if (name.length > MAX_BARE_CHARS) return `its name has more than ${MAX_BARE_CHARS} characters`;
  if (hasUnseen(name)) return "its name holds characters that cannot be seen";
  if (RESERVED.has(name.normalize("NFKC").trim().toLowerCase()))
    return "its name is that of one of the coordination's own tools";
  return null;
}

/**
 * What models call a tool: `mcp__{server}__{tool}` where that fits every provider and can be nobody else's, else what fits of it and
 * a mark. It is made of these two alone, never of what else is listed, and no two tools have the same: so a name that was offered
 * stands for the same tool in every listing, order and connection.
 */
export async function fullName(server: string, tool: string): Promise<string> {
  const name = escaped(written(server, tool));
  // In a plain name the first `__` after the prefix ends the server, and nothing in it looks like a mark.
  const isPlain =
    name === written(server, tool) && name.length <= MAX_NAME_CHARS && !`${server}_`.includes("__");
  if (isPlain && !isMarked(name)) return name;
  const mark = await markOf(server, tool);
  return name.slice(0, MAX_NAME_CHARS - mark.length) + mark;
}

const MARK_DIGITS = 25;
const MARKED = new RegExp(`_[0-9a-z]{${MARK_DIGITS}}$`);
const isMarked = (name: string): boolean => MARKED.test(name);

/** 128 bits of SHA-256: who lists tools chooses their names, and must not find two that come to one mark. */
async function markOf(server: string, tool: string): Promise<string> {
  const digest = await sha256(JSON.stringify([server, tool]));
  const number = BigInt(`0x${digest.slice(0, 32)}`);
  return `_${number.toString(36).padStart(MARK_DIGITS, "0")}`;
}

const PREFIX = "mcp__";
const written = (server: string, tool: string): string => `${PREFIX}${server}__${tool}`;
const escaped = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, "_");

/** A tool as filters know it: its server's name, its own, and its full one. */
export type Named = { server: string; tool: string; name: string };

/**
 * Whether a list lets this tool in: by its bare name, its full one, or server and tool as they are written. An entry that ends as a
 * mark does is a name as offered. One that could mean a tool of another of `servers`, too, lets none in: then the bare name does.
 */
export function isAllowed(
  list: readonly string[],
  { server, tool, name }: Named,
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

/** Whether a list keeps this tool out: by whatever an entry could mean. */
export function isExcluded(list: readonly string[], { server, tool, name }: Named): boolean {
  const names = [tool, name, written(server, tool), escaped(written(server, tool))];
  return list.some((entry) => names.includes(entry));
}
