import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import { type BridgeArguments, readBridgeArguments, USAGE } from "../local/bridge/arguments";
import { type Bridged, originAt, planBridge, TOKEN_SECRET } from "../local/bridge/plan";

/**
 * `npm run bridge -- team.yaml`: starts the MCP servers of a config that are programs, beside the user, as Streamable HTTP, and hands on
 * those that are on the user's machine or network already. The config with their addresses goes to standard output, everything else to standard error. Every caller must show a token, on
 * loopback too: any page in a browser can reach it there.
 */

const PROXY = path.join(
  path.dirname(fileURLToPath(import.meta.resolve("mcp-proxy"))),
  "bin/mcp-proxy.mjs",
);

/**
 * Runs in the proxy's process before the proxy, which gives the program all its variables: the token becomes an argument that only the
 * proxy sees, for what others see of a process are the arguments it was started with.
 */
const HIDING = `const { MCP_PROXY_API_KEY: token } = process.env;
process.argv.splice(2, 0, "--apiKey=" + token);
delete process.env.MCP_PROXY_API_KEY;`;
const PRELOAD = `data:text/javascript,${encodeURIComponent(HIDING)}`;

/** A program that hands on what a server over HTTP has; its address and headers come by the environment, which others do not see. */
const HANDING_ON = `import { startStdioServer } from ${JSON.stringify(import.meta.resolve("mcp-proxy"))};
const { url, speaks, headers } = JSON.parse(process.env.BRIDGED_SERVER);
await startStdioServer({ serverType: speaks === "sse" ? "SSE" : "HTTPStream", url, transportOptions: { requestInit: { headers } } });`;

const tell = (text: string): void => void process.stderr.write(`${text}\n`);

function fail(text: string, code = 1): never {
  tell(text);
  process.exit(code);
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** What cannot be meant ends it with 2. */
function typed(): BridgeArguments {
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

const { file, host, port, token: given, urls } = typed();
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
    `${file} names no MCP server that is a program, or is on your machine or network: there is nothing to bridge.`,
  );
const token = given ?? randomBytes(24).toString("base64url");

let stopping = false;
const children = plan.programs.map(start);
process.on("SIGINT", () => stop(0));
process.on("SIGTERM", () => stop(0));

await Promise.all(plan.programs.map(ready));
process.stdout.write(plan.config);
const origins = plan.programs.map(({ url }) => `${TOKEN_SECRET}=${new URL(url).origin}`);
tell(
  "\nThe servers run until you end this with Ctrl-C. So that the service may call them and send them the token:",
);
if (given === null) tell(`  ${TOKEN_SECRET}=${token}`);
tell(`  TOOL_SECRETS=${[...new Set(origins)].join(",")}`);
tell(
  `  ALLOWED_TOOL_ORIGINS=${[...new Set(plan.programs.map(({ url }) => new URL(url).origin))].join(",")}`,
);
tell(
  "in .dev.vars beside a service on this machine, or as secrets of a deployment, which reaches you through a tunnel only (--url).",
);

/** How it is started. */
function programOf(
  bridged: Bridged,
): Omit<Extract<Bridged, { type: "program" }>, "type" | "name" | "port" | "url"> {
  if (bridged.type === "program") return bridged;
  const { target, speaks, headers } = bridged;
  const env = { BRIDGED_SERVER: JSON.stringify({ url: target, speaks, headers }) };
  return {
    command: process.execPath,
    args: ["--input-type=module", "--eval", HANDING_ON],
    env,
    cwd: null,
  };
}

function start(bridged: Bridged) {
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
  // The token goes by the environment: arguments can be read by everybody on the machine. Of the user's own variables a program gets
  // those few that programs need to run; what else it is to have, the config says.
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
    tell(`The server ${name} ended with ${code}.`);
    stop(1);
  });
  return child;
}

async function ready({ name, port: own }: Bridged): Promise<void> {
  const address = `${originAt(host, own)}/ping`;
  for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 200) {
    const response = await fetch(address).catch(() => null);
    if (response?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  tell(`The server ${name} did not start within a minute.`);
  stop(1);
}

/** Ends all servers, then this. */
function stop(code: number): void {
  if (stopping) return;
  stopping = true;
  for (const child of children) child.kill();
  setTimeout(() => process.exit(code), 500);
}
