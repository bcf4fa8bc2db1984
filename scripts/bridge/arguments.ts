import { parseArgs } from "node:util";
import { isLoopbackHost } from "../../src/outgoing/addresses";

export type BridgeArguments = { file: string; host: string; port: number; token: string | null; urls: Map<string, string> };

export const USAGE = `npm run bridge -- team.yaml [--port 8765] [--host 127.0.0.1] [--token TOKEN] [--url NAME=https://…]

Starts the MCP servers of a config that are programs, beside you, as Streamable HTTP, puts a token before those that are on your machine or
network already, and prints the config with the addresses.
  --port   port of the first server; each of the others has the next
  --host   where to listen; beyond loopback only with --token
  --token  what callers must show (header X-API-Key); without it one is made up. Or set MCP_BRIDGE_TOKEN
  --url    the address by which the service reaches a server, of a tunnel say; may be repeated`;

/** Throws, in words for people, for what cannot be meant. `token`: from the environment, if there is one. */
export function readBridgeArguments(args: readonly string[], token: string | undefined): BridgeArguments {
  const text = { type: "string" } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { host: text, port: text, token: text, url: { ...text, multiple: true } },
  });
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new Error(`Name one config.\n\n${USAGE}`);
  const host = values.host ?? "127.0.0.1";
  const given = values.token ?? token ?? null;
  if (given !== null && given.length < SHORTEST_TOKEN) throw new Error(`A token has at least ${SHORTEST_TOKEN} characters.`);
  if (!isLoopback(host) && given === null)
    throw new Error(`Whoever reaches ${host} could run your programs: listen there only with --token, or on 127.0.0.1.`);
  return { file, host, port: readPort(values.port ?? "8765"), token: given, urls: new Map((values.url ?? []).map(readUrl)) };
}

const SHORTEST_TOKEN = 16;

const isLoopback = (host: string): boolean => isLoopbackHost(host === "::1" ? "[::1]" : host);

function readPort(written: string): number {
  const port = Number(written);
  if (Number.isInteger(port) && port > 0 && port < 65_000) return port;
  throw new Error(`${written} is no port.`);
}

function readUrl(written: string): [string, string] {
  const [, name, url] = /^([^=]+)=(.+)$/.exec(written) ?? [];
  if (name !== undefined && url !== undefined && URL.canParse(url)) return [name, url];
  throw new Error(`--url ${written} is not of the form NAME=https://host/mcp.`);
}
