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
 * Streamable HTTP servers, and forwards servers that run on the user's machine or network. Prints
 * the config with the new addresses to standard output, and everything else to standard error.
 * Every caller needs a token, also on loopback, because any page in a browser can send requests to
 * loopback.
 */

const PROXY = path.join(
  path.dirname(fileURLToPath(import.meta.resolve("mcp-proxy"))),
  "bin/mcp-proxy.mjs",
);

/**
 * Code that runs in the proxy's process before the proxy. It moves the token from the environment
 * to the proxy's arguments, because the proxy passes its environment to the program. Other users
 * cannot see the token there: they see only the arguments with which a process was started.
 */
const HIDE_TOKEN = `const { MCP_PROXY_API_KEY: token } = process.env;
process.argv.splice(2, 0, "--apiKey=" + token);
delete process.env.MCP_PROXY_API_KEY;`;
const PRELOAD = `data:text/javascript,${encodeURIComponent(HIDE_TOKEN)}`;

/**
 * The code of a program that forwards to an HTTP server. The server's address and headers are in
 * the environment, because other users cannot read it.
 */
const FORWARDER = `import { startStdioServer } from ${JSON.stringify(import.meta.resolve("mcp-proxy"))};
const { url, transport, headers } = JSON.parse(process.env.BRIDGED_SERVER);
await startStdioServer({ serverType: transport === "sse" ? "SSE" : "HTTPStream", url, transportOptions: { requestInit: { headers } } });`;

const printError = (text: string): void => void process.stderr.write(`${text}\n`);

function exitWith(text: string, code = 1): never {
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
    return exitWith(messageOf(error), 2);
  }
  process.stdout.write(`${USAGE}\n`);
  return process.exit(0);
}

function readOrExit(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    return exitWith(messageOf(error));
  }
}

const { file, host, port, token: chosenToken, urls } = argumentsOrExit();
const source = readOrExit(file);
const plan = planBridge(source, {
  host,
  port,
  urls,
  variables: process.env,
  directory: process.cwd(),
});
if (plan.problems.length > 0) exitWith(plan.problems.join("\n"));
if (plan.programs.length === 0)
  exitWith(
    `${file} has nothing to bridge: it names no MCP server that is a program, or that runs on this machine or its network.`,
  );
const token = chosenToken ?? randomBytes(24).toString("base64url");

let isStopping = false;
const children = plan.programs.map(start);
process.on("SIGINT", () => stop(0));
process.on("SIGTERM", () => stop(0));

await Promise.all(plan.programs.map(waitUntilReady));
process.stdout.write(plan.config);
const origins = plan.programs.map(({ url }) => `${TOKEN_SECRET}=${new URL(url).origin}`);
printError(
  "\nThe servers run until you press Ctrl+C. Set these variables of the service, so that it may call the servers with the token:",
);
if (chosenToken === null) printError(`  ${TOKEN_SECRET}=${token}`);
printError(`  TOOL_SECRETS=${[...new Set(origins)].join(",")}`);
printError(
  `  ALLOWED_TOOL_ORIGINS=${[...new Set(plan.programs.map(({ url }) => new URL(url).origin))].join(",")}`,
);
printError(
  "For a service on this machine, add them to .dev.vars. For a deployment, set them as secrets. A deployment can reach the servers only through a tunnel (--url).",
);

/** The command that the proxy starts for a server. */
function programOf(
  bridged: BridgedServer,
): Omit<Extract<BridgedServer, { type: "program" }>, "type" | "name" | "port" | "url"> {
  if (bridged.type === "program") return bridged;
  const { target, transport, headers } = bridged;
  const env = { BRIDGED_SERVER: JSON.stringify({ url: target, transport, headers }) };
  return {
    command: process.execPath,
    args: ["--input-type=module", "--eval", FORWARDER],
    env,
    cwd: null,
  };
}

function start(bridged: BridgedServer) {
  const { name, port: ownPort } = bridged;
  const { command, args, env, cwd } = programOf(bridged);
  const proxyOptions = [
    "--host",
    host,
    "--port",
    String(ownPort),
    "--server",
    "stream",
    "--upstreamProtocol",
    "legacy",
  ];
  // The token is passed in the environment, because all users can read arguments. A program
  // receives only those of the user's variables that most programs need, and the variables of the
  // config.
  const child = spawn(
    process.execPath,
    ["--import", PRELOAD, PROXY, ...proxyOptions, "--", command, ...args],
    {
      cwd: cwd ?? process.cwd(),
      env: { ...getDefaultEnvironment(), ...env, MCP_PROXY_API_KEY: token },
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  child.on("exit", (code) => {
    if (isStopping) return;
    printError(`The server ${name} ended with ${code}.`);
    stop(1);
  });
  return child;
}

async function waitUntilReady({ name, port: ownPort }: BridgedServer): Promise<void> {
  const address = `${originAt(host, ownPort)}/ping`;
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
  if (isStopping) return;
  isStopping = true;
  for (const child of children) child.kill();
  setTimeout(() => process.exit(code), 500);
}
