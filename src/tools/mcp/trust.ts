/**
 * What the operator knows of tools. Annotations come from the server and prove nothing, so whether a tool only reads, or may be
 * called twice, counts only if the operator says it too.
 */
export type ToolTrust = readonly TrustRule[];

/** `tool`: a bare name; a trailing `*` stands for any ending. `url`: the server's address, exactly. */
export type TrustRule = { url: string; tool: string; allows: "read_only" | "idempotent" };

/** What servers say of their tools; hints, no more. */
export type Hints = { readOnlyHint?: boolean | undefined; idempotentHint?: boolean | undefined };

/** Only the operator's list makes a tool read-only; being called twice needs the server's own word as well. */
export function trustOf(trust: ToolTrust, url: string, tool: { name: string; hints: Hints }) {
  const allows = (what: TrustRule["allows"]) =>
    trust.some((rule) => rule.allows === what && covers(rule, url, tool.name));
  const readOnly = allows("read_only");
  const saidSafe = tool.hints.idempotentHint === true || tool.hints.readOnlyHint === true;
  return { readOnly, idempotent: (readOnly || allows("idempotent")) && saidSafe };
}

const covers = (rule: TrustRule, url: string, name: string): boolean =>
  rule.url === url && isNamedBy(rule.tool, name);

/** `pattern`: a name; a trailing `*` stands for any ending. */
export const isNamedBy = (pattern: string, name: string): boolean =>
  pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;

const ENTRY = /^(read_only|idempotent) (\S+)#(\S+)$/;

/**
 * The operator's variable `MCP_SAFE_TOOLS`: entries `read_only https://host/mcp#search_*` or `idempotent https://host/mcp#put`,
 * separated by commas. `problems` says which entries are none; they allow nothing.
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
