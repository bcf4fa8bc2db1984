import type { McpEnvironment } from "../../../src/tools/mcp/environment";
import { McpServers } from "../../../src/tools/mcp/mcp-servers";
import type { Pins } from "../../../src/tools/mcp/pins";
import type { McpServer } from "../../../src/tools/mcp/server";
import type { ToolNotification } from "../../../src/protocol/events/tool";
import type { Tool, ToolContext } from "../../../src/tools/tool";

/** The settings of a server in a config. `overrides` replaces parts of them. */
export const server = (url: string, overrides: Partial<McpServer> = {}): McpServer => ({
  name: "box",
  url,
  headers: {},
  auth: null,
  connectMs: 5_000,
  callMs: 5_000,
  allowedTools: null,
  excludeTools: [],
  ...overrides,
});

/** An environment with the real `fetch`. The value of a secret is `planted-` and its name. */
export const environment = (overrides: Partial<McpEnvironment> = {}): McpEnvironment => ({
  fetch: (input, init) => fetch(input, init),
  secretOf: (name) => `planted-${name}`,
  trust: [],
  now: () => Date.now(),
  ...overrides,
});

/** Connects servers for one agent, whose id is `one`. */
export async function connected(
  servers: readonly McpServer[],
  {
    pins = new Map<string, Pins>(),
    ...env
  }: Partial<McpEnvironment> & { pins?: ReadonlyMap<string, Pins> } = {},
): Promise<McpServers> {
  const mcpServers = new McpServers(environment(env));
  const agents = new Map([["one", { servers, allowedTools: null, excludeTools: [] }]]);
  await mcpServers.connect(agents, pins, AbortSignal.timeout(20_000));
  return mcpServers;
}

let calls = 0;

/** The context of a call. `news` contains the notifications of the call. */
export function context(
  overrides: Partial<ToolContext> = {},
): ToolContext & { news: ToolNotification[] } {
  const news: ToolNotification[] = [];
  calls += 1;
  return {
    place: {
      session: "session_1",
      turn: 1,
      attempt: 1,
      agent: "one",
      round: 1,
      toolCall: "call_1",
    },
    files: null,
    fetch: (input, init) => fetch(input, init),
    signal: AbortSignal.timeout(30_000),
    idempotencyKey: `key-${calls}`,
    now: () => Date.now(),
    notify: (notification) => news.push(notification),
    news,
    ...overrides,
  };
}

/** The tool with this full name. Throws if the agent has no such tool. */
export function toolOf(servers: McpServers, name: string): Tool {
  const tools = servers.toolsFor("one");
  const found = tools.find(({ spec }) => spec.name === name);
  if (!found)
    throw new Error(`no tool ${name} among ${tools.map(({ spec }) => spec.name).join(", ")}`);
  return found;
}
