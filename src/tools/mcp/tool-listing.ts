import type { ListedTool, ToolsListing } from "../../protocol/events";
import type { ServerOffer } from "./mcp-servers";
import type { Pins } from "./pins";
import { type McpTools, serverId } from "./server";

/** Between what servers have and what the log says of it. Pure. */

/** Tools that are not offered, by name; the rest is counted. */
const MOST_REFUSED = 50;

/** What one server has for an agent, as the log tells it. */
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

type Told = Pick<ToolsListing, "server" | "tools"> & { agent: string };

/** The session's pins by `serverId`: each tool as the first listing that named it had it. `agents`: their servers, by id. */
export function pinsOf(
  listings: Iterable<Told>,
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
