/**
 * The operator's statements about tools. Annotations come from the server, and a server may be
 * wrong or malicious. So a tool counts as read-only or safe to repeat only if the operator says so.
 */
export type ToolTrust = readonly TrustRule[];

/**
 * One statement. `url` is the exact address of a server. `tool` is a bare name; a `*` at the end
 * matches any ending.
 */
type TrustRule = { url: string; tool: string; allows: "read_only" | "idempotent" };

/** A server's annotations of a tool. They are only hints. */
type Hints = { readOnlyHint?: boolean | undefined; idempotentHint?: boolean | undefined };

/**
 * What is known about a tool. The tool is read-only if the operator says so. The tool is idempotent
 * (safe to repeat) if the operator says so and the server's annotations agree.
 */
export function trustOf(trust: ToolTrust, url: string, tool: { name: string; hints: Hints }) {
  const allows = (property: TrustRule["allows"]) =>
    trust.some((rule) => rule.allows === property && covers(rule, url, tool.name));
  const readOnly = allows("read_only");
  const hintsSafe = tool.hints.idempotentHint === true || tool.hints.readOnlyHint === true;
  return { readOnly, idempotent: (readOnly || allows("idempotent")) && hintsSafe };
}

const covers = (rule: TrustRule, url: string, name: string): boolean =>
  rule.url === url && isNamedBy(rule.tool, name);

/** Whether a pattern matches a name. A `*` at the end of the pattern matches any ending. */
export const isNamedBy = (pattern: string, name: string): boolean =>
  pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;

const ENTRY = /^(read_only|idempotent) (\S+)#(\S+)$/;

/**
 * Parses the operator's variable `MCP_SAFE_TOOLS`. It contains entries separated by commas, such as
 * `read_only https://host/mcp#search_*` or `idempotent https://host/mcp#put`. Invalid entries are
 * ignored and listed in `problems`.
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
