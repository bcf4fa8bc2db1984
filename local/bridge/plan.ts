import { isMap, isSeq, parseDocument, type YAMLMap } from "yaml";
import * as z from "zod";
import { isPrivateHost } from "../../src/outgoing/addresses";

/**
 * Plans the bridge: which servers of a team's config it starts or forwards on the user's machine,
 * and the config with their new addresses. Pure: nothing is started here.
 */

const TextsSchema = z.array(z.union([z.string(), z.number()]).transform(String));
const StdioSchema = z.looseObject({
  name: z.string().optional(),
  command: z.union([z.string().transform((command) => [command]), TextsSchema.min(1)]),
  args: TextsSchema.optional(),
  env: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String))
    .optional(),
  cwd: z.string().optional(),
});

const LocalSchema = z.looseObject({
  url: z.string().refine((url) => URL.canParse(url) && isPrivateHost(new URL(url).hostname)),
  type: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
});

/** A planned server, with its port on this machine and the address that the service calls. */
export type BridgedServer = ServerStart & { name: string; port: number; url: string };

/**
 * How the bridge makes a server available. `program`: the bridge starts it. `server`: it already
 * runs on the user's machine or network at `target`, and the bridge forwards requests to it.
 */
type ServerStart =
  | {
      type: "program";
      command: string;
      args: string[];
      env: Record<string, string>;
      cwd: string | null;
    }
  | { type: "server"; target: string; transport: "http" | "sse"; headers: Record<string, string> };

type BridgeOptions = {
  host: string;
  /** Port of the first server. The other servers use the following ports. */
  port: number;
  /**
   * Addresses at which the service reaches servers, for example through a tunnel, by the name of
   * the server.
   */
  urls: ReadonlyMap<string, string>;
  /**
   * The user's variables. They replace `${NAME}` in `args`, `env` and `headers`. `directory`
   * replaces `${cwd}` there.
   */
  variables: Readonly<Record<string, string | undefined>>;
  directory: string;
};

type BridgePlan = { programs: BridgedServer[]; config: string; problems: string[] };

/** The name of the secret that contains the bridge's token. */
export const TOKEN_SECRET = "MCP_BRIDGE_TOKEN";

/**
 * Plans the bridge for a config. Equal entries share a server. Keeps the comments of the config.
 */
export function planBridge(config: string, options: BridgeOptions): BridgePlan {
  const document = parseDocument(config);
  if (document.errors.length > 0)
    return { programs: [], config, problems: document.errors.map(({ message }) => message) };
  const programs = new Map<string, BridgedServer>();
  const entries: Entry[] = [];
  const problems: string[] = [];
  for (const { entry, name } of serverEntries(document.contents)) {
    const start = startOf(entry.toJS(document), { name, options, problems });
    if (start === null) continue;
    const key = JSON.stringify(start);
    const program = programs.get(key) ?? toBridged({ ...start, name }, programs.size, options);
    programs.set(key, program);
    entries.push({ name, program });
    for (const field of ["command", "args", "env", "cwd", "security"]) entry.delete(field);
    entry.set("type", "streamable-http");
    entry.set("url", program.url);
    entry.set("headers", document.createNode({ "X-API-Key": `\${${TOKEN_SECRET}}` }));
  }
  problems.push(...[...options.urls.keys()].flatMap((name) => urlProblem(name, entries) ?? []));
  return {
    programs: [...programs.values()],
    config: document.toString({ lineWidth: 0 }),
    problems: [...new Set(problems)],
  };
}

/** The name of an entry of the config, and its program. Several entries may share a program. */
type Entry = { name: string; program: BridgedServer };

type EntryContext = { name: string; options: BridgeOptions; problems: string[] };

/**
 * Decides what the bridge starts or forwards for an entry. Returns `null` if the service can reach
 * the server directly, or if there is a problem, which is added to `problems`.
 */
function startOf(value: unknown, { name, options, problems }: EntryContext): ServerStart | null {
  const fill = (text: string) => fillVariables(text, options, problems);
  const fillAll = (texts: Record<string, string> = {}) =>
    Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, fill(text)]));
  const hasField = (key: string): boolean =>
    typeof value === "object" && value !== null && key in value;
  const stdio = StdioSchema.safeParse(value);
  if (stdio.success) {
    const [command = "", ...commandArgs] = stdio.data.command;
    const args = [...commandArgs, ...(stdio.data.args ?? [])].map(fill);
    return {
      type: "program",
      command,
      args,
      env: fillAll(stdio.data.env),
      cwd: stdio.data.cwd ?? null,
    };
  }
  if (hasField("command"))
    problems.push(`The server ${name} has a command that cannot be started.`);
  const local = LocalSchema.safeParse(value);
  if (!local.success || hasField("command")) return null;
  if (hasField("auth")) {
    problems.push(
      `The server ${name} uses OAuth, which the bridge cannot forward: write a token into its \`headers\`.`,
    );
    return null;
  }
  const { url, type, headers } = local.data;
  return {
    type: "server",
    target: url,
    transport: type === "sse" ? "sse" : "http",
    headers: fillAll(headers),
  };
}

/** Why an address for a server's name is invalid; `null` if it is valid. */
function urlProblem(name: string, entries: readonly Entry[]): string | null {
  const matches = new Set(
    entries.filter((entry) => entry.name === name).map(({ program }) => program),
  );
  const [program] = matches;
  const names = [...new Set(entries.map((entry) => entry.program.name))].join(", ");
  if (program === undefined)
    return `--url ${name}=… matches no server of the bridge${names && ` (${names})`}.`;
  if (matches.size > 1)
    return `--url ${name}=… matches ${matches.size} different programs: give their servers different names in the config.`;
  if (program.name === name) return null;
  return `${name} shares the program and address of ${program.name}: write --url ${program.name}=… instead of --url ${name}=….`;
}

function toBridged(
  start: ServerStart & { name: string },
  index: number,
  { host, port, urls }: BridgeOptions,
): BridgedServer {
  const ownPort = port + index;
  const url = urls.get(start.name) ?? `${originAt(host, ownPort)}/mcp`;
  return { ...start, port: ownPort, url };
}

/** The loopback address at which a server that listens on all interfaces can be called. */
const LOOPBACK_FOR_WILDCARD = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["::", "::1"],
]);

/**
 * The origin of a host and port on this machine. Replaces a wildcard address, which has no origin.
 */
export function originAt(host: string, port: number): string {
  const address = LOOPBACK_FOR_WILDCARD.get(host) ?? host;
  return `http://${address.includes(":") ? `[${address}]` : address}:${port}`;
}

type FoundEntry = { entry: YAMLMap; name: string };

/** The entries of all `mcp_servers` of all agents. */
function serverEntries(root: unknown): FoundEntry[] {
  if (!isMap(root)) return [];
  const agents = root.get("agents");
  const all = isSeq(agents) ? agents.items : [root.get("agent")];
  return all.flatMap((agent) => {
    const backend = isMap(agent) ? agent.get("backend") : null;
    const servers = isMap(backend) ? backend.get("mcp_servers") : null;
    if (isSeq(servers))
      return servers.items.flatMap((entry, index) => toFoundEntries(entry, `server ${index + 1}`));
    if (!isMap(servers)) return [];
    if (servers.has("command")) return toFoundEntries(servers, "server");
    return servers.items.flatMap(({ key, value }) => toFoundEntries(value, String(key)));
  });
}

const toFoundEntries = (entry: unknown, fallback: string): FoundEntry[] =>
  isMap(entry)
    ? [
        {
          entry,
          name: typeof entry.get("name") === "string" ? String(entry.get("name")) : fallback,
        },
      ]
    : [];

function fillVariables(
  text: string,
  { variables, directory }: BridgeOptions,
  problems: string[],
): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (reference, name: string) => {
    if (name === "cwd") return directory;
    const value = variables[name];
    if (value === undefined)
      problems.push(`${reference} is not set: set ${name} before you start the bridge.`);
    return value ?? reference;
  });
}
