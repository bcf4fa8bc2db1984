import { parseArgs } from "node:util";
import { isLoopbackHost } from "../../src/outgoing/addresses";
import { UsageError, wholeNumber } from "../command-line";

export type BridgeArguments = {
  /** Path of the config. */
  file: string;
  host: string;
  /** Port of the first server. */
  port: number;
  /** `null` means that a random token is created. */
  token: string | null;
  /** Public addresses by the name of the server. */
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
 * Parses the arguments; returns `null` for `--help`. Throws `UsageError`, or Node's own error, for
 * invalid arguments. `token` is the token in the environment, if set.
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
  const chosenToken = values.token ?? token ?? null;
  if (chosenToken !== null && chosenToken.length < MIN_TOKEN_CHARS)
    throw new UsageError(`A token has at least ${MIN_TOKEN_CHARS} characters.`);
  if (!isLoopback(host) && chosenToken === null)
    throw new UsageError(
      `Anyone who can reach ${host} could run your programs. Use --token, or listen on 127.0.0.1.`,
    );
  return {
    file,
    host,
    port: readPort(values.port),
    token: chosenToken,
    urls: new Map((values.url ?? []).map(readUrl)),
  };
}

const MIN_TOKEN_CHARS = 16;
/** Leaves room below 65,535 for the ports of the other servers. */
const MAX_PORT = 64_999;

const isLoopback = (host: string): boolean => isLoopbackHost(host === "::1" ? "[::1]" : host);

function readPort(text: string | undefined): number {
  const port = wholeNumber("port", text, 1) ?? 8_765;
  if (port <= MAX_PORT) return port;
  throw new UsageError(
    `--port is ${MAX_PORT} at most, not ${port}: the other servers use the following ports.`,
  );
}

function readUrl(text: string): [string, string] {
  const [, name, url] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  if (name !== undefined && url !== undefined && URL.canParse(url)) return [name, url];
  throw new UsageError(`--url ${text} is not of the form NAME=https://host/mcp.`);
}
