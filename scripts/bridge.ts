import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import { type BridgeArguments, readBridgeArguments, USAGE } from "../local/bridge/arguments";
import { type BridgedServer, originAt, planBridge, TOKEN_SECRET } from "../local/bridge/plan";

/**
 * `npm run bridge -- team.yaml`: starts the MCP servers of a config that are local programs as
 * Streamable HTTP servers, and forwards those on the user's machine or network. Prints the config
 * with their addresses to standard output, everything else to standard error. Every caller needs a
 * token, also on loopback: any page in a browser can reach it there.
 */

const PROXY = path.join(
  path.dirname(fileURLToPath(import.meta.resolve("mcp-proxy"))),
  "bin/mcp-proxy.mjs",
);

/**
 * Runs in the proxy's process before the proxy, which would pass all its variables to the program.
 * Moves the token to an argument that only the proxy sees: other users see only the arguments a
 * process was started with.
 */
const HIDE_TOKEN = `const { MCP_PROXY_API_KEY: token } = process.env;
process.argv.splice(2, 0, "--apiKey=" + token);
delete process.env.MCP_PROXY_API_KEY;`;
const PRELOAD = `data:text/javascript,${encodeURIComponent(HIDE_TOKEN)}`;

/**
 * A program that forwards an HTTP server. Its address and headers are in the environment, which
 * other users cannot read.
 */
const FORWARDER = `import { startStdioServer } from ${JSON.stringify(import.meta.resolve("mcp-proxy"))};
const { url, speaks, headers } = JSON.parse(process.env.BRIDGED_SERVER);
await startStdioServer({ serverType: speaks === "sse" ? "SSE" : "HTTPStream", url, transportOptions: { requestInit: { headers } } });`;

const printError = (text: string): void => void process.stderr.write(`${text}\n`);

function fail(text: string, code = 1): never {
  printError(text);
  process.exit(code);
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Parses the arguments. Invalid arguments exit with 2. */
function argumentsOrExit(): BridgeArguments {
  try {
    const args = readBridgeArguments(process.argv.slice(2), process.env[TOKEN_SECRET]);
    if (args) return args;
  } catch (error) {
    return fail(messageOf(error), 2);
  }
  process.stdout.write(`${USAGE}\n`);
  return process.exit(0);
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    return fail(messageOf(error));
  }
}

const { file, host, port, token: given, urls } = argumentsOrExit();
const source = read(file);
const plan = planBridge(source, {
  host,
  port,
  urls,
  variables: process.env,
  directory: process.cwd(),
});
if (plan.problems.length > 0) fail(plan.problems.join("\n"));
if (plan.programs.length === 0)
  fail(
    `${file} has nothing to bridge: it names no MCP server that is a program, or that runs on this machine or its network.`,
  );
const token = given ?? randomBytes(24).toString("base64url");

let stopping = false;
const children = plan.programs.map(start);
process.on("SIGINT", () => stop(0));
process.on("SIGTERM", () => stop(0));

await Promise.all(plan.programs.map(ready));
process.stdout.write(plan.config);
const origins = plan.programs.map(({ url }) => `${TOKEN_SECRET}=${new URL(url).origin}`);
printError(
  "\nThe servers run until you press Ctrl+C. Set these variables of the service, so that it may call the servers with the token:",
);
if (given === null) printError(`  ${TOKEN_SECRET}=${token}`);
printError(`  TOOL_SECRETS=${[...new Set(origins)].join(",")}`);
printError(
  `  ALLOWED_TOOL_ORIGINS=${[...new Set(plan.programs.map(({ url }) => new URL(url).origin))].join(",")}`,
);
printError(
  "For a service on this machine, add them to .dev.vars. For a deployment, set them as secrets. A deployment can reach the servers only through a tunnel (--url).",
);

/** The command of a server. */
function programOf(
  bridged: BridgedServer,
): Omit<Extract<BridgedServer, { type: "program" }>, "type" | "name" | "port" | "url"> {
  if (bridged.type === "program") return bridged;
  const { target, speaks, headers } = bridged;
  const env = { BRIDGED_SERVER: JSON.stringify({ url: target, speaks, headers }) };
  return {
    command: process.execPath,
    args: ["--input-type=module", "--eval", FORWARDER],
    env,
    cwd: null,
  };
}

function start(bridged: BridgedServer) {
  const { name, port: own } = bridged;
  const { command, args, env, cwd } = programOf(bridged);
  const listen = [
    "--host",
    host,
    "--port",
    String(own),
    "--server",
    "stream",
    "--upstreamProtocol",
    "legacy",
  ];
  // The token is passed in the environment, because all users can read arguments. Of the user's
  // variables, a program gets only the few that programs generally need; the config adds others.
  const child = spawn(
    process.execPath,
    ["--import", PRELOAD, PROXY, ...listen, "--", command, ...args],
    {
      cwd: cwd ?? process.cwd(),
      env: { ...getDefaultEnvironment(), ...env, MCP_PROXY_API_KEY: token },
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  child.on("exit", (code) => {
    if (stopping) return;
    printError(`The server ${name} ended with ${code}.`);
    stop(1);
  });
  return child;
}

async function ready({ name, port: own }: BridgedServer): Promise<void> {
  const address = `${originAt(host, own)}/ping`;
  for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 200) {
    const response = await fetch(address).catch(() => null);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  printError(`The server ${name} did not start within a minute.`);
  stop(1);
}

/** Stops all servers, then this process. */
function stop(code: number): void {
  if (stopping) return;
  stopping = true;
  for (const child of children) child.kill();
  setTimeout(() => process.exit(code), 500);
}
