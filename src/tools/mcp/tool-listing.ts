import type { ListedTool, ToolsListing } from "../../protocol/events";
import type { ServerOffer } from "./mcp-servers";
import type { Pins } from "./pins";
import { type McpTools, serverId } from "./server";

/** Converts between the state of servers and the listings in the session's log. */

/** Maximum number of refused tools that are listed by name. Of the others, only the number is. */
const MAX_NAMED_REFUSED = 50;

/** One server's tools for an agent, as a log entry. */
export function toListing({
  server,
  version,
  problem,
  tools,
  refused,
  more,
}: ServerOffer): ToolsListing {
  const unnamedTools = Math.max(0, refused.length - MAX_NAMED_REFUSED) + more;
  return {
    server,
    version,
    problem,
    tools: tools.map(
      ({ offered: { bareName, hash }, rule }): ListedTool => ({ ...rule, tool: bareName, hash }),
    ),
    refused: refused
      .slice(0, MAX_NAMED_REFUSED)
      .map(({ tool, why, changed }) => ({ tool, why, changed })),
    ...(unnamedTools > 0 && { more_refused: unnamedTools }),
  };
}

type AgentListing = Pick<ToolsListing, "server" | "tools"> & { turn: number; agent: string };

/**
 * The pins of a session, by `serverId`, from all its listings in their order. The first listing of
 * a tool is its pin. `agentsOf`: the servers of each agent in a turn, by agent id.
 */
export function pinsOf(
  listings: Iterable<AgentListing>,
  agentsOf: (turn: number) => ReadonlyMap<string, McpTools>,
): Map<string, Pins> {
  const pins = new Map<string, Map<string, string>>();
  for (const { turn, agent, server: name, tools } of listings) {
    const server = agentsOf(turn)
      .get(agent)
      ?.servers.find((candidate) => candidate.name === name);
    if (!server) continue;
    const serverPins = pins.get(serverId(server)) ?? new Map<string, string>();
    for (const { tool, hash } of tools) if (!serverPins.has(tool)) serverPins.set(tool, hash);
    pins.set(serverId(server), serverPins);
  }
  return new Map([...pins].map(([id, serverPins]) => [id, Object.fromEntries(serverPins)]));
}
