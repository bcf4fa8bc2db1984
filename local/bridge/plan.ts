import { isMap, isSeq, parseDocument, type YAMLMap } from "yaml";
import { z } from "zod";
import { isPrivateHost } from "../../src/outgoing/addresses";

/**
 * Determines which servers of a team's config to start or forward on the user's machine, and the
 * resulting config. Pure.
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

/** A started server and its address. */
export type BridgedServer = ServerStart & { name: string; port: number; url: string };

/**
 * `program`: started by the bridge; `server`: runs already on the user's machine or network, and is
 * forwarded.
 */
type ServerStart =
  | {
      type: "program";
      command: string;
      args: string[];
      env: Record<string, string>;
      cwd: string | null;
    }
  | { type: "server"; target: string; speaks: "http" | "sse"; headers: Record<string, string> };

type BridgeOptions = {
  host: string;
  /** Port of the first program; the others get the following ones. */
  port: number;
  /**
   * Addresses under which the service reaches programs, for example through a tunnel, by server
   * name.
   */
  urls: ReadonlyMap<string, string>;
  /**
   * The user's variables: they replace `${NAME}` in `args`, `env` and `headers`; `directory`
   * replaces `${cwd}`.
   */
  variables: Readonly<Record<string, string | undefined>>;
  directory: string;
};

type BridgePlan = { programs: BridgedServer[]; config: string; problems: string[] };

/** The name of the secret with the bridge's token. */
export const TOKEN_SECRET = "MCP_BRIDGE_TOKEN";

/** Equal entries share a program. Comments of the config are kept. */
export function planBridge(config: string, options: BridgeOptions): BridgePlan {
  const document = parseDocument(config);
  if (document.errors.length > 0)
    return { programs: [], config, problems: document.errors.map(({ message }) => message) };
  const programs = new Map<string, BridgedServer>();
  const entries: Entry[] = [];
  const problems: string[] = [];
  for (const { entry, name } of serverEntries(document.contents)) {
    const started = startedFor(entry.toJS(document), { name, options, problems });
    if (started === null) continue;
    const key = JSON.stringify(started);
    const program = programs.get(key) ?? toBridged({ ...started, name }, programs.size, options);
    programs.set(key, program);
    entries.push({ name, program });
    for (const gone of ["command", "args", "env", "cwd", "security"]) entry.delete(gone);
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

/** An entry of the config with its program, possibly shared. */
type Entry = { name: string; program: BridgedServer };

type EntryContext = { name: string; options: BridgeOptions; problems: string[] };

/**
 * What to start for an entry; `null` if the service can reach it directly, or there is a problem.
 */
function startedFor(
  written: unknown,
  { name, options, problems }: EntryContext,
): ServerStart | null {
  const fill = (text: string) => fillVariables(text, options, problems);
  const filled = (texts: Record<string, string> = {}) =>
    Object.fromEntries(Object.entries(texts).map(([key, value]) => [key, fill(value)]));
  const has = (key: string): boolean =>
    typeof written === "object" && written !== null && key in written;
  const stdio = StdioSchema.safeParse(written);
  if (stdio.success) {
    const [command = "", ...first] = stdio.data.command;
    const args = [...first, ...(stdio.data.args ?? [])].map(fill);
    return {
      type: "program",
      command,
      args,
      env: filled(stdio.data.env),
      cwd: stdio.data.cwd ?? null,
    };
  }
  if (has("command")) problems.push(`The server ${name} has a command that cannot be started.`);
  const local = LocalSchema.safeParse(written);
  if (!local.success || has("command")) return null;
  if (has("auth")) {
    problems.push(
      `The server ${name} uses OAuth, which the bridge cannot forward: write a token into its \`headers\`.`,
    );
    return null;
  }
  const { url, type, headers } = local.data;
  return {
    type: "server",
    target: url,
    speaks: type === "sse" ? "sse" : "http",
    headers: filled(headers),
  };
}

/** Why an address for a server's name is invalid; `null` if it is valid. */
function urlProblem(name: string, entries: readonly Entry[]): string | null {
  const meant = new Set(
    entries.filter((entry) => entry.name === name).map(({ program }) => program),
  );
  const [program] = meant;
  const started = [...new Set(entries.map((entry) => entry.program.name))].join(", ");
  if (program === undefined)
    return `--url ${name}=… matches no server of the bridge${started && ` (${started})`}.`;
  if (meant.size > 1)
    return `--url ${name}=… matches ${meant.size} different programs: give their servers different names in the config.`;
  if (program.name === name) return null;
  return `${name} shares the program and address of ${program.name}: write --url ${program.name}=… instead of --url ${name}=….`;
}

function toBridged(
  what: ServerStart & { name: string },
  nth: number,
  { host, port, urls }: BridgeOptions,
): BridgedServer {
  const own = port + nth;
  return { ...what, port: own, url: urls.get(what.name) ?? `${originAt(host, own)}/mcp` };
}

/** Loopback addresses of servers that listen on all interfaces. */
const CALLED = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["::", "::1"],
]);

/** The origin of a host and port on this machine; a wildcard address cannot be called. */
export function originAt(host: string, port: number): string {
  const called = CALLED.get(host) ?? host;
  return `http://${called.includes(":") ? `[${called}]` : called}:${port}`;
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
      return servers.items.flatMap((entry, nth) => named(entry, `server ${nth + 1}`));
    if (!isMap(servers)) return [];
    if (servers.has("command")) return named(servers, "server");
    return servers.items.flatMap(({ key, value }) => named(value, String(key)));
  });
}

const named = (entry: unknown, fallback: string): FoundEntry[] =>
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
  return text.replaceAll(/\$\{(\w+)\}/g, (written, name: string) => {
    if (name === "cwd") return directory;
    const value = variables[name];
    if (value === undefined)
      problems.push(`${written} is not set: set ${name} before you start the bridge.`);
    return value ?? written;
  });
}
