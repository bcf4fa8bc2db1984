import { addressProblem, forbiddenProblem, isAllowedOrigin } from "../outgoing/address-rules";
import { isPrivateHost } from "../outgoing/addresses";
import type { McpServer, McpTools } from "../tools/mcp/server";
import { checkKeys } from "./check-keys";
import { type ConfigContext, toolAddressRules } from "./context";
import { integer, listOrMapping, read, refuseOffWord, type Section, text, texts } from "./fields";
import { HTTP_MCP_KEYS, MCP_SERVER_KEYS } from "./known-keys";
import { MAX_MCP_SERVERS, MAX_URL_CHARS } from "./config-limits";
import { readMcpAuth } from "./mcp-auth";
import { shortQuote } from "./problems";
import { isCredential } from "./stray-keys";
import { readToolHeaders } from "./tool-secrets";
import { type Entry, entriesOf, toQuote } from "./value-needs";

/**
 * Reads the MCP servers of a backend section. HTTP servers are supported. Local programs and
 * servers on the user's machine are refused.
 */

export const MCP_NAME = /^[A-Za-z0-9_-]{1,100}$/;

/** The types of an entry's fields, for the check and for the JSON Schema. */
export const MCP_SERVER = {
  url: text(MAX_URL_CHARS),
  timeout: integer(1, 300),
  readTimeout: integer(1, 840),
  tools: texts,
} as const;

const DEFAULT_CONNECT_SECONDS = 30;
const DEFAULT_CALL_SECONDS = 300;

/** Returns `null` if the section has no valid server. */
export function readMcpTools(section: Section, context: ConfigContext): McpTools | null {
  const path = [...section.path, "mcp_servers"];
  const configured = section.values.get("mcp_servers");
  const isOff = configured === false || refuseOffWord(section, path, configured);
  const value = isOff ? null : read(section, "mcp_servers", listOrMapping, null);
  const entries = value === null ? [] : entriesOf(section, "mcp_servers", value);
  if (entries.length > MAX_MCP_SERVERS)
    section.findings.error(
      "out_of_range",
      path,
      `An agent has at most ${MAX_MCP_SERVERS} servers; this agent has ${entries.length}.`,
    );
  const servers = entries
    .slice(0, MAX_MCP_SERVERS)
    .flatMap((entry) => readEntry(section, entry, context) ?? []);
  refuseRepeatedNames(section, entries);
  const filters = readFilters(section);
  if (entries.length === 0) warnOfUselessFilters(section);
  return servers.length === 0 ? null : { servers, ...filters };
}

function readEntry(section: Section, entry: Entry, context: ConfigContext): McpServer | null {
  const { name } = entry;
  const { values, findings } = entry.section;
  const path = [...section.path, "mcp_servers"];
  const url = values.get("url");
  if (typeof url !== "string" || values.has("command")) {
    checkKeys(entry.section, MCP_SERVER_KEYS);
    findings.refuse({ need: "stdio_mcp", path, subject: toQuote(name) });
    return null;
  }
  checkKeys(entry.section, findings.serves("http_mcp") ? HTTP_MCP_KEYS : MCP_SERVER_KEYS);
  if (isOnUsersMachine(url, context)) {
    findings.refuse({ need: "localhost_mcp", path, subject: toQuote(name) });
    return null;
  }
  findings.refuse({ need: "http_mcp", path, subject: toQuote(name) });
  return findings.serves("http_mcp") ? readHttpServer(entry, context) : null;
}

/**
 * Whether the address is private, so that a tunnel or the operator could make it available. False
 * for an address that is always forbidden, such as the address of this service: it has its own
 * error.
 */
function isOnUsersMachine(
  address: string,
  { allowedToolOrigins = [], ownOrigins = [] }: ConfigContext,
): boolean {
  if (!URL.canParse(address)) return false;
  const url = new URL(address);
  if (forbiddenProblem(url, ownOrigins) !== null) return false;
  return isPrivateHost(url.hostname) && !isAllowedOrigin(url, allowedToolOrigins);
}

function readHttpServer({ name, section }: Entry, context: ConfigContext): McpServer | null {
  checkName(section, name);
  checkType(section);
  const url = readUrl(section, context);
  const connectSeconds = read(section, "timeout", MCP_SERVER.timeout, null);
  const callSeconds = read(section, "http_read_timeout", MCP_SERVER.readTimeout, null);
  const filters = readFilters(section);
  const readOnlyTools = read<string[], readonly string[]>(section, "read_only", texts, []);
  if (url === null) return null;
  const headers = readToolHeaders(section, { url, method: "POST", isOpen: false }, context);
  const auth = readMcpAuth(section, url, context);
  if (auth && "authorization" in headers)
    section.findings.error(
      "not_allowed",
      [...section.path, "headers"],
      "`auth` sends its own token: remove the Authorization header.",
    );
  return {
    ...{ name, url, headers, auth, ...filters },
    ...(readOnlyTools.length > 0 && { readOnlyTools }),
    connectMs: (connectSeconds ?? DEFAULT_CONNECT_SECONDS) * 1000,
    callMs: (callSeconds ?? connectSeconds ?? DEFAULT_CALL_SECONDS) * 1000,
  };
}

function checkName({ path, findings }: Section, name: string): void {
  if (MCP_NAME.test(name)) return;
  const detail = `The name of a server must be 1 to 100 letters, digits, dashes or underscores; \`${shortQuote(name)}\` is not.`;
  findings.error("out_of_range", [...path, "name"], detail);
}

/** The names that configs use for the supported transport. */
const TRANSPORT_NAMES = ["streamable-http", "streamable_http", "http"];

function checkType({ path, values, findings }: Section): void {
  const type = values.get("type") ?? "streamable-http";
  if (typeof type === "string" && TRANSPORT_NAMES.includes(type)) return;
  const sse =
    "The older SSE transport is not supported. Use the server's `streamable-http` address; most servers have one.";
  const other = "type must be `streamable-http` for a server with a `url`.";
  findings.error("wrong_type", [...path, "type"], type === "sse" ? sse : other);
}

function readUrl(section: Section, context: ConfigContext): string | null {
  const address = read(section, "url", MCP_SERVER.url, null);
  if (address === null) return null; // an invalid value is already reported
  const problem = urlProblem(address, context);
  if (problem === null) return new URL(address).href;
  section.findings.error("base_url_refused", [...section.path, "url"], `url ${problem}.`);
  return null;
}

function urlProblem(address: string, context: ConfigContext): string | null {
  if (address.includes("${")) return "must not contain a secret: secrets belong in `headers`";
  if (!URL.canParse(address)) return "is not a complete URL, such as https://mcp.example.com/mcp";
  const url = new URL(address);
  if (url.hash) return "must not contain a fragment";
  if (url.username || url.password)
    return "must not contain a user name or password: credentials belong in `headers`, as ${NAME}";
  const credential = [...url.searchParams.keys()].find(isCredential);
  if (credential !== undefined)
    return `must not contain \`${credential}\`: credentials belong in \`headers\`, as \${NAME}`;
  return addressProblem(url, toolAddressRules(context));
}

/** The filters for tools, of one server or of all servers of the backend. */
function readFilters(section: Section): Pick<McpTools, "allowedTools" | "excludeTools"> {
  return {
    allowedTools: read(section, "allowed_tools", texts, null),
    excludeTools: read<string[], readonly string[]>(section, "exclude_tools", texts, []),
  };
}

/** Warns about filters without a server. */
function warnOfUselessFilters({ path, values, findings }: Section): void {
  for (const key of ["allowed_tools", "exclude_tools"]) {
    if ((values.get(key) ?? null) !== null)
      findings.warn(
        "no_effect",
        [...path, key],
        `\`${key}\` is ignored: it filters the tools of \`mcp_servers\`, and no server is configured.`,
        "key",
      );
  }
}

function refuseRepeatedNames(section: Section, entries: readonly Entry[]): void {
  const seen = new Set<string>();
  for (const { name, section: entry } of entries) {
    if (seen.has(name))
      section.findings.error(
        "duplicate",
        entry.path,
        `Another server already has the name ${toQuote(name)}.`,
      );
    seen.add(name);
  }
}
