import { parseArgs } from "node:util";
import { isLoopbackHost } from "../../src/outgoing/addresses";
import { UsageError, wholeNumber } from "../command-line";

export type BridgeArguments = {
  file: string;
  host: string;
  port: number;
  token: string | null;
  urls: Map<string, string>;
};

export const USAGE = `npm run bridge -- team.yaml [--port 8765] [--host 127.0.0.1] [--token TOKEN]
                     [--url NAME=https://…]

Starts the MCP servers of a config that are local programs, as Streamable HTTP
servers. Forwards servers that already run on this machine or its network.
Every server requires a token. Prints the config with the new addresses.

  --port   port of the first server; the others use the following ports
           (default: 8765)
  --host   address to listen on (default: 127.0.0.1); beyond loopback,
           set --token
  --token  token that callers must send as X-API-Key
           (default: MCP_BRIDGE_TOKEN, else a random one)
  --url    public address of a server, for example of a tunnel; repeatable`;

/**
 * `null` for `--help`. Throws `UsageError`, or Node's own error, for invalid arguments. `token` is
 * from the environment, if set.
 */
export function readBridgeArguments(
  args: readonly string[],
  token: string | undefined,
): BridgeArguments | null {
  const text = { type: "string" } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      host: text,
      port: text,
      token: text,
      url: { ...text, multiple: true },
      help: { type: "boolean" },
    },
  });
  if (values.help) return null;
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new UsageError(`Name one config.\n\n${USAGE}`);
  const host = values.host ?? "127.0.0.1";
  const given = values.token ?? token ?? null;
  if (given !== null && given.length < SHORTEST_TOKEN)
    throw new UsageError(`A token has at least ${SHORTEST_TOKEN} characters.`);
  if (!isLoopback(host) && given === null)
    throw new UsageError(
      `Anyone who can reach ${host} could run your programs. Use --token, or listen on 127.0.0.1.`,
    );
  return {
    file,
    host,
    port: readPort(values.port),
    token: given,
    urls: new Map((values.url ?? []).map(readUrl)),
  };
}

const SHORTEST_TOKEN = 16;
const HIGHEST_PORT = 64_999;

const isLoopback = (host: string): boolean => isLoopbackHost(host === "::1" ? "[::1]" : host);

function readPort(written: string | undefined): number {
  const port = wholeNumber("port", written, 1) ?? 8_765;
  if (port <= HIGHEST_PORT) return port;
  throw new UsageError(
    `--port is ${HIGHEST_PORT} at most, not ${port}: the other servers use the following ports.`,
  );
}

function readUrl(written: string): [string, string] {
  const [, name, url] = /^([^=]+)=(.+)$/.exec(written) ?? [];
  if (name !== undefined && url !== undefined && URL.canParse(url)) return [name, url];
  throw new UsageError(`--url ${written} is not of the form NAME=https://host/mcp.`);
}
