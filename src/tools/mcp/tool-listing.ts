import type { ListedTool, ToolsListing } from "../../protocol/events";
import type { ServerOffer } from "./mcp-servers";
import type { Pins } from "./pins";
import { type McpTools, serverId } from "./server";

/** Converts between the state of servers and their listings in the log. Pure. */

/** Number of refused tools that are listed by name; the others are counted. */
const MOST_REFUSED = 50;

/** One server's tools for an agent, as a log entry. */
export function toListing({
  server,
  version,
  problem,
  tools,
  refused,
  more,
}: ServerOffer): ToolsListing {
  const unnamed = Math.max(0, refused.length - MOST_REFUSED) + more;
  return {
    server,
    version,
    problem,
    tools: tools.map(
      ({ offered: { bareName, hash }, rule }): ListedTool => ({ ...rule, tool: bareName, hash }),
    ),
    refused: refused
      .slice(0, MOST_REFUSED)
      .map(({ tool, why, changed }) => ({ tool, why, changed })),
    ...(unnamed > 0 && { more_refused: unnamed }),
  };
}

type AgentListing = Pick<ToolsListing, "server" | "tools"> & { agent: string };

/**
 * The session's pins by `serverId`: each tool as its first listing. `agents` are their servers, by
 * agent id.
 */
export function pinsOf(
  listings: Iterable<AgentListing>,
  agents: ReadonlyMap<string, McpTools>,
): Map<string, Pins> {
  const pins = new Map<string, Map<string, string>>();
  for (const { agent, server: name, tools } of listings) {
    const server = agents.get(agent)?.servers.find((one) => one.name === name);
    if (!server) continue;
    const known = pins.get(serverId(server)) ?? new Map<string, string>();
    for (const { tool, hash } of tools) if (!known.has(tool)) known.set(tool, hash);
    pins.set(serverId(server), known);
  }
  return new Map([...pins].map(([id, known]) => [id, Object.fromEntries(known)]));
}
