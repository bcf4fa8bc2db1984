import { afterEach } from "vitest";
import type { McpServers } from "../../../src/tools/mcp/mcp-servers";
import { type Script, scriptedServer, tool } from "../../../simulated/tool-servers/scripted-server";
import { connected, context, server, toolOf } from "./support";

/** Resources that a test opened, closed after the test in reverse order. */
const open: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** A scripted server until the end of the test. */
export async function serve(script: Script) {
  const made = await scriptedServer(script);
  open.push(made);
  return made;
}

/** Connected servers until the end of the test. */
export const keep = (servers: McpServers): McpServers => {
  open.push(servers);
  return servers;
};

/** A server with one tool `act` with this behaviour. */
export const only = (call: Script["call"]): Script => ({
  tools: [tool("act")],
  ...(call && { call }),
});

/** Connects to such a server and calls its tool once. */
export async function act(script: Script, more: { callMs?: number } = {}) {
  const made = await serve(script);
  const servers = keep(await connected([server(made.url, { callMs: more.callMs ?? 5_000 })]));
  const toolContext = context();
  const result = await toolOf(servers, "mcp__box__act").run({}, toolContext);
  return { ...made, servers, result, toolContext };
}
