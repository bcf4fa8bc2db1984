import { WORKFLOW_TOOLS } from "../../coordination/offers";
import { MAX_NAME_CHARS } from "./limits";
import { hasUnseen } from "./shown-text";

/** What tools of MCP servers are called. */

/** Longer names are not cut: their tools are refused. */
const MAX_BARE_CHARS = 128;

const RESERVED: ReadonlySet<string> = new Set(WORKFLOW_TOOLS);

/** Why a tool of this name is not offered, as a clause; null: it may be. */
export function nameProblem(name: string): string | null {
  if (name.trim() === "") return "it has no name";
  if (name.length > MAX_BARE_CHARS) return `its name has more than ${MAX_BARE_CHARS} characters`;
  if (hasUnseen(name)) return "its name holds characters that cannot be seen";
  if (RESERVED.has(name.normalize("NFKC").trim().toLowerCase())) return "its name is that of one of the coordination's own tools";
  return null;
}

/** `mcp__{server}__{tool}`, with `_` for whatever providers do not take. Two names may come to one; `distinct` tells them apart. */
export function fullName(server: string, tool: string): string {
  return `mcp__${escaped(server)}__${escaped(tool)}`;
}

const escaped = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, "_");

/**
 * A full name that fits every provider and is not among `taken`: a mark made of `hash` (hex) replaces what is too long, or is added
 * where another tool has the name.
 */
export function distinct(name: string, hash: string, taken: ReadonlySet<string>): string {
  if (name.length <= MAX_NAME_CHARS && !taken.has(name)) return name;
  const mark = `_${hash.slice(0, 8)}`;
  return name.slice(0, MAX_NAME_CHARS - mark.length) + mark;
}

/** Whether a list of names means this tool: by its bare name, its name as offered, or its full name as written. */
export function isNamed(list: readonly string[], names: readonly string[]): boolean {
  return list.some((entry) => names.includes(entry));
}
