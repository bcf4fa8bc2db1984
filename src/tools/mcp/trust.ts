/**
 * The operator's statements about tools. Annotations come from the server and prove nothing, so a
 * tool counts as read-only or safe to repeat only if the operator says so.
 */
export type ToolTrust = readonly TrustRule[];

/**
 * `tool` is a bare name; a trailing `*` matches any ending. `url` is the server's exact address.
 */
type TrustRule = { url: string; tool: string; allows: "read_only" | "idempotent" };

/** A server's annotations; hints only. */
type Hints = { readOnlyHint?: boolean | undefined; idempotentHint?: boolean | undefined };

/**
 * The operator's list alone makes a tool read-only. Repeating it also requires the server's
 * annotation.
 */
export function trustOf(trust: ToolTrust, url: string, tool: { name: string; hints: Hints }) {
  const allows = (what: TrustRule["allows"]) =>
    trust.some((rule) => rule.allows === what && covers(rule, url, tool.name));
  const readOnly = allows("read_only");
  const hintsSafe = tool.hints.idempotentHint === true || tool.hints.readOnlyHint === true;
  return { readOnly, idempotent: (readOnly || allows("idempotent")) && hintsSafe };
}

const covers = (rule: TrustRule, url: string, name: string): boolean =>
  rule.url === url && isNamedBy(rule.tool, name);

/** `pattern` is a name; a trailing `*` matches any ending. */
export const isNamedBy = (pattern: string, name: string): boolean =>
  pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;

const ENTRY = /^(read_only|idempotent) (\S+)#(\S+)$/;

/**
 * Parses the operator's variable `MCP_SAFE_TOOLS`: entries `read_only https://host/mcp#search_*` or
 * `idempotent https://host/mcp#put`, separated by commas. Invalid entries are ignored and listed in
 * `problems`.
 */
export function parseToolTrust(text: string | undefined): { trust: ToolTrust; problems: string[] } {
  const entries = (text ?? "").split(",").map((entry) => entry.trim());
  const parsed = entries
    .filter((entry) => entry !== "")
    .map((entry) => ({ entry, rule: parseEntry(entry) }));
  return {
    trust: parsed.flatMap(({ rule }) => rule ?? []),
    problems: parsed.flatMap(({ entry, rule }) =>
      rule
        ? []
        : [`MCP_SAFE_TOOLS: \`${entry}\` is not of the form \`read_only https://host/mcp#tool\``],
    ),
  };
}

function parseEntry(entry: string): TrustRule | null {
  const [, allows, url, tool] = ENTRY.exec(entry) ?? [];
  if (url === undefined || tool === undefined || !URL.canParse(url)) return null;
  return {
    allows: allows === "read_only" ? "read_only" : "idempotent",
    url: new URL(url).href,
    tool,
  };
}
