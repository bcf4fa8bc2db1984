import { afterEach } from "vitest";
import type { McpServers } from "../../../src/tools/mcp/mcp-servers";
import { type Script, scriptedServer, tool } from "../../../simulated/tool-servers/scripted-server";
import { connected, context, server, toolOf } from "./support";

/** Resources of the current test. They are closed after the test, in reverse order. */
const openResources: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const resource of openResources.splice(0).reverse()) await resource.close();
});

/** Starts a scripted server. It is closed at the end of the test. */
export async function serve(script: Script) {
  const toolServer = await scriptedServer(script);
  openResources.push(toolServer);
  return toolServer;
}

/** Returns these servers, and closes their connections at the end of the test. */
export const keep = (servers: McpServers): McpServers => {
  openResources.push(servers);
  return servers;
};

/** The script of a server with one tool, `act`. `call` responds to its calls. */
export const only = (call: Script["call"]): Script => ({
  tools: [tool("act")],
  ...(call && { call }),
});

/** Starts a server with the tool `act`, connects to it, and calls the tool once. */
export async function act(script: Script, options: { callMs?: number } = {}) {
  const toolServer = await serve(script);
  const servers = keep(
    await connected([server(toolServer.url, { callMs: options.callMs ?? 5_000 })]),
  );
  const toolContext = context();
  const result = await toolOf(servers, "mcp__box__act").run({}, toolContext);
  return { ...toolServer, servers, result, toolContext };
}
