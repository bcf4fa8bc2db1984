import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { freePort } from "../../simulated/service/loopback";
import { reply, scriptedServer, text, tool } from "../../simulated/tool-servers/scripted-server";
import { connected, context, server, toolOf } from "../tools/mcp/support";

let bridge: ChildProcess | undefined;
afterAll(() => void bridge?.kill("SIGTERM"));

/** Program of the MCP project's test server, which has a tool for each feature. */
const everythingProgram = path.join(
  path.dirname(
    createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json"),
  ),
  "dist/index.js",
);

const TOKEN = "0123456789abcdef";

/** A server entry of a config. Its program runs on the user's machine. */
const PROGRAM = {
  ...{ name: "everything", command: process.execPath, args: [everythingProgram, "stdio"] },
  env: { GIVEN: "to the program", FILLED: "${OF_THE_USER}" },
};

/** Runs the bridge with a config that has this server entry. */
function start(args: string[], variables: Record<string, string> = {}, entry: object = PROGRAM) {
  const team = path.join(mkdtempSync(path.join(tmpdir(), "bridge-")), "team.yaml");
  writeFileSync(
    team,
    JSON.stringify({ agent: { id: "a", backend: { type: "claude", mcp_servers: [entry] } } }),
  );
  const child = spawn(process.execPath, ["scripts/run.mjs", "scripts/bridge.ts", team, ...args], {
    stdio: "pipe",
    env: {
      ...process.env,
      OF_THE_USER: "named by the config",
      NOBODYS_BUSINESS: "a key of the user's",
      ...variables,
    },
  });
  const printed = { out: "", err: "" };
  child.stdout.on("data", (chunk) => (printed.out += String(chunk)));
  child.stderr.on("data", (chunk) => (printed.err += String(chunk)));
  return { child, printed };
}

it("starts a program as an HTTP server that requires the token, prints the config with the server's address, and gives the program only its own variables and a few others", async () => {
  const port = await freePort();
  const { child, printed } = start(["--port", String(port)], { MCP_BRIDGE_TOKEN: TOKEN });
  bridge = child;
  await vi.waitFor(() => expect(printed.err).toContain("The servers run until"), {
    timeout: 60_000,
    interval: 200,
  });
  const entry = parse(printed.out).agent.backend.mcp_servers[0];
  expect(entry).toEqual({
    ...{ name: "everything", type: "streamable-http", url: `http://127.0.0.1:${port}/mcp` },
    headers: { "X-API-Key": "${MCP_BRIDGE_TOKEN}" },
  });

  const withoutToken = await connected([server(entry.url)]);
  expect(withoutToken.list()[0]?.problem).toMatch(/401|refused us/);
  await withoutToken.close();

  const headers = { "x-api-key": "${MCP_BRIDGE_TOKEN}" };
  const servers = await connected([server(entry.url, { name: "everything", headers })], {
    secretOf: () => TOKEN,
  });
  expect(servers.list()).toMatchObject([{ problem: null }]);
  const echo = await toolOf(servers, "mcp__everything__echo").run(
    { message: "over the bridge" },
    context(),
  );
  expect(echo).toEqual({ outcome: "ok", text: "Echo: over the bridge" });
  const { text } = await toolOf(servers, "mcp__everything__get-env").run({}, context());
  const environment: unknown = JSON.parse(text);
  expect(environment).toMatchObject({
    GIVEN: "to the program",
    FILLED: "named by the config",
    PATH: expect.any(String),
  });
  expect(environment).not.toHaveProperty("NOBODYS_BUSINESS");
  expect(text).not.toContain(TOKEN);
  await servers.close();

  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

it("forwards requests to a server on this machine, with that server's headers and without the token", async () => {
  const local = await scriptedServer({
    tools: [tool("echo")],
    call: ({ message, response }) => reply(response, message.id, text("here I am")),
  });
  const port = await freePort();
  const entry = {
    name: "home",
    type: "streamable-http",
    url: local.url,
    headers: { "X-Key": "${OF_THE_USER}" },
  };
  const { child, printed } = start(["--port", String(port)], { MCP_BRIDGE_TOKEN: TOKEN }, entry);
  try {
    await vi.waitFor(() => expect(printed.err).toContain("The servers run until"), {
      timeout: 60_000,
      interval: 200,
    });
    const { url } = parse(printed.out).agent.backend.mcp_servers[0];
    expect(url).toBe(`http://127.0.0.1:${port}/mcp`);

    const withoutToken = await connected([server(url)]);
    expect(withoutToken.list()[0]?.problem).toMatch(/401|refused us/);
    await withoutToken.close();

    const headers = { "x-api-key": "${MCP_BRIDGE_TOKEN}" };
    const servers = await connected([server(url, { name: "home", headers })], {
      secretOf: () => TOKEN,
    });
    expect(servers.list()).toMatchObject([{ problem: null }]);
    const echo = await toolOf(servers, "mcp__home__echo").run(
      { text: "from next door" },
      context(),
    );
    expect(echo).toEqual({ outcome: "ok", text: "here I am" });
    await servers.close();
    const sent = JSON.stringify(local.received);
    expect(sent).toContain("from next door");
    expect(sent).toContain("named by the config");
    expect(sent).not.toContain(TOKEN);
  } finally {
    child.kill("SIGTERM");
    await local.close();
  }
});

it("refuses to listen on a public address without a token", async () => {
  const { child, printed } = start(["--host", "0.0.0.0"]);
  expect(await once(child, "exit")).toEqual([2, null]);
  expect(printed.err).toContain("Use --token, or listen on 127.0.0.1");
});
