import type { Tool as McpTool } from "@modelcontextprotocol/client";
import {
  MAX_DESCRIPTION_CHARS,
  MAX_OFFERED,
  MAX_OFFERED_CHARS,
  MAX_SCHEMA_CHARS,
  MAX_TOOLS,
  MAX_WHY_CHARS,
} from "./server-limits";
import { fullName, isAllowed, isExcluded, type ToolNames, nameProblem } from "./names";
import { checkPins, type Pins, toolHash } from "./pins";
import type { ToolSpec } from "../../providers/provider";
import type { McpServer, McpTools } from "./server";
import { cutText, shown } from "./shown-text";

/** A listed tool, the hash of its definition, and its full name. */
export type HashedTool = { tool: McpTool; hash: string; name: string };

/** A tool that this server has listed. */
export async function hashed(server: string, tool: McpTool): Promise<HashedTool> {
  const [hash, name] = await Promise.all([toolHash(tool), fullName(server, tool.name)]);
  return { tool, hash, name };
}

/** A tool that an agent may be offered. `tool` is its definition. */
export type OfferedTool = {
  server: McpServer;
  bareName: string;
  name: string;
  hash: string;
  tool: McpTool;
};

/** A tool that is not offered, with the reason as a clause. `changed`: it differs from its pin. */
export type WithheldTool = { server: string; tool: string; why: string; changed: boolean };

/** The same with its full name, for filters. */
export type RefusedTool = WithheldTool & { name: string };

/** The tools that one server has listed, checked against its pins. */
export type Listing = {
  offered: OfferedTool[];
  refused: RefusedTool[];
  pins: Pins;
  added: string[];
  more: number;
};

/** Checks a server's listing: the tools to offer, those to refuse, and the new pins. Pure. */
export function judgeListing(
  server: McpServer,
  listing: readonly HashedTool[],
  pins: Pins,
): Listing {
  const looked = listing.slice(0, MAX_TOOLS);
  const seen = new Set<string>();
  const refused: RefusedTool[] = [];
  const refuse = (tool: string, name: string, why: string, changed = false) =>
    refused.push({ server: server.name, tool: cutText(shown(tool), 200), name, why, changed });
  const valid = looked.filter(({ tool, name }) => {
    const problem = seen.has(tool.name)
      ? "the server has listed the name already"
      : toolProblem(tool);
    seen.add(tool.name);
    if (problem !== null) refuse(tool.name, name, problem);
    return problem === null;
  });
  const check = checkPins(
    pins,
    valid.map((one) => ({ ...one, name: one.tool.name, fullName: one.name })),
  );
  for (const { name, fullName: full } of check.changed)
    refuse(name, full, "the server has changed it since it was first seen", true);
  const offered = check.same.map(({ name, fullName: full, hash, tool }) => ({
    server,
    bareName: name,
    name: full,
    hash,
    tool: toDefinition(tool),
  }));
  return {
    offered,
    refused,
    pins: check.pins,
    added: check.added,
    more: listing.length - looked.length,
  };
}

function toolProblem(tool: McpTool): string | null {
  const problem = nameProblem(tool.name);
  if (problem !== null) return problem;
  const size = Math.max(
    ...[tool.inputSchema, tool.outputSchema ?? null].map((schema) => JSON.stringify(schema).length),
  );
  return size > MAX_SCHEMA_CHARS
    ? `its schema has ${size} characters, more than ${MAX_SCHEMA_CHARS}`
    : null;
}

/**
 * The parts of a tool that are used: for the model, for a call, and the server's annotations.
 * Bounded and deterministic, so that it can be stored. The description is data: cut, with invisible
 * characters escaped. The output schema is in the pin's hash only: see `Connection.call`.
 */
function toDefinition({ name, title, description, inputSchema, annotations }: McpTool): McpTool {
  return {
    name,
    description: cutText(shown(description ?? title ?? "").trim(), MAX_DESCRIPTION_CHARS),
    inputSchema,
    ...(annotations && { annotations }),
  };
}

/** Limits of an agent besides its servers. */
export type Room = {
  /** Number of its own tools. */
  own?: number;
  /** Why its model cannot use a tool, as a clause; `null` if it can. */
  unfit?: (tool: ToolSpec, hash: string) => string | null;
};

/**
 * The tools that one agent gets from its servers: filtered at both levels, within its limit and
 * usable by its model. Servers are served in the order of its config. An unusable tool counts
 * towards the limit too, because checking it takes time.
 */
export function offerTo(
  agent: McpTools,
  listings: ReadonlyMap<string, readonly OfferedTool[]>,
  { own = 0, unfit = () => null }: Room = {},
): { offered: OfferedTool[]; refused: WithheldTool[] } {
  const offered: OfferedTool[] = [];
  const refused: WithheldTool[] = [];
  const room = Math.max(0, MAX_OFFERED - own);
  let [looked, chars] = [0, 0];
  const wanted = agent.servers.flatMap((server) =>
    (listings.get(server.name) ?? []).filter((tool) => isWanted(named(tool), agent, server)),
  );
  for (const tool of wanted) {
    const size = JSON.stringify(tool.tool).length;
    const noRoom = tooMuch(looked + 1, room, chars + size);
    if (noRoom === null) [looked, chars] = [looked + 1, chars + size];
    const why = noRoom ?? unfit(toSpec(tool), tool.hash);
    if (why === null) offered.push(tool);
    else
      refused.push({
        server: tool.server.name,
        tool: tool.bareName,
        why: cutText(shown(why), MAX_WHY_CHARS),
        changed: false,
      });
  }
  return { offered, refused };
}

/**
 * Why the tools exceed an agent's limits; `null` if they do not. `chars` counts all definitions.
 */
function tooMuch(tools: number, room: number, chars: number): string | null {
  if (tools > room)
    return `the agent has room for ${room} tools of all its servers, beside its own: choose with allowed_tools`;
  if (chars <= MAX_OFFERED_CHARS) return null;
  return `descriptions and schemas of all its servers' tools have at most ${MAX_OFFERED_CHARS} characters: choose with allowed_tools`;
}

const named = ({ server, bareName, name }: OfferedTool): ToolNames => ({
  server: server.name,
  tool: bareName,
  name,
});

/** Whether an agent's filters and those of `server` allow this tool. */
export const isWanted = (tool: ToolNames, agent: McpTools, server: McpServer): boolean =>
  isLetIn(tool, server, [server]) && isLetIn(tool, agent, agent.servers);

type Filters = { allowedTools: readonly string[] | null; excludeTools: readonly string[] };

/** `servers` are those that the filters choose from. */
function isLetIn(
  tool: ToolNames,
  { allowedTools, excludeTools }: Filters,
  servers: readonly McpServer[],
): boolean {
  if (isExcluded(excludeTools, tool)) return false;
  if (allowedTools === null) return true;
  return isAllowed(
    allowedTools,
    tool,
    servers.map(({ name }) => name),
  );
}

/** A tool as models see it. */
export const toSpec = ({ server, name, tool }: OfferedTool): ToolSpec => ({
  name,
  description: tool.description || `A tool of the server ${server.name}.`,
  parameters: { ...tool.inputSchema },
});
