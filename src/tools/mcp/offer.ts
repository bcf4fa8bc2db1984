import type { Tool as McpTool } from "@modelcontextprotocol/client";
import {
  MAX_DESCRIPTION_CHARS,
  MAX_OFFERED,
  MAX_OFFERED_CHARS,
  MAX_SCHEMA_CHARS,
  MAX_TOOLS,
  MAX_WHY_CHARS,
} from "./limits";
import { fullName, isAllowed, isExcluded, type Named, nameProblem } from "./names";
import { checkPins, type Pins, toolHash } from "./pins";
import type { ToolSpec } from "../../providers/provider";
import type { McpServer, McpTools } from "./server";
import { cutText, shown } from "./shown-text";

/** A tool of a listing, the hash of it as the server told it, and its full name. */
export type Hashed = { tool: McpTool; hash: string; name: string };

/** A tool that this server has listed. */
export async function hashed(server: string, tool: McpTool): Promise<Hashed> {
  const [hash, name] = await Promise.all([toolHash(tool), fullName(server, tool.name)]);
  return { tool, hash, name };
}

/** A tool that an agent may be offered. `tool` is its definition. */
export type Offered = {
  server: McpServer;
  bareName: string;
  name: string;
  hash: string;
  tool: McpTool;
};

/** A tool that is not offered, and why, as a clause. `changed`: it is not what was pinned. */
export type NotOffered = { server: string; tool: string; why: string; changed: boolean };

/** The same with its full name, by which filters may mean it. */
export type Refused = NotOffered & { name: string };

/** What one server has listed, against its pins. */
export type Listing = {
  offered: Offered[];
  refused: Refused[];
  pins: Pins;
  added: string[];
  more: number;
};

/** Judges what a server listed: what may be offered, what may not, what is pinned from now on. Pure. */
export function judgeListing(server: McpServer, listing: readonly Hashed[], pins: Pins): Listing {
  const looked = listing.slice(0, MAX_TOOLS);
  const seen = new Set<string>();
  const refused: Refused[] = [];
  const refuse = (tool: string, name: string, why: string, changed = false) =>
    refused.push({ server: server.name, tool: cutText(shown(tool), 200), name, why, changed });
  const sound = looked.filter(({ tool, name }) => {
    const problem = seen.has(tool.name)
      ? "the server has listed the name already"
      : toolProblem(tool);
    seen.add(tool.name);
    if (problem !== null) refuse(tool.name, name, problem);
    return problem === null;
  });
  const check = checkPins(
    pins,
    sound.map((one) => ({ ...one, name: one.tool.name, fullName: one.name })),
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
 * Of a tool all that is ever used: for the model, for a call, and for what the server claims of it. Bounded, and the same for the
 * same tool wherever it is made, so that it can be kept. The description is data: shortened, with what cannot be seen shown. The
 * form of its results is in the pin's hash only: see `Connection.call`.
 */
function toDefinition({ name, title, description, inputSchema, annotations }: McpTool): McpTool {
  return {
    name,
    description: cutText(shown(description ?? title ?? "").trim(), MAX_DESCRIPTION_CHARS),
    inputSchema,
    ...(annotations && { annotations }),
  };
}

/** What an agent is beside its servers. */
export type Room = {
  /** How many tools it has of its own. */
  own?: number;
  /** Why its model cannot be told of a tool, as a clause; null: it can. */
  unfit?: (tool: ToolSpec, hash: string) => string | null;
};

/**
 * What one agent gets of the listings of its servers: filtered at both levels, as many as it has room for beside its own, and none that
 * its model cannot be told of; servers that come first in its config are served first. What is looked at takes room also if it is unfit,
 * for looking costs.
 */
export function offerTo(
  agent: McpTools,
  listings: ReadonlyMap<string, readonly Offered[]>,
  { own = 0, unfit = () => null }: Room = {},
): { offered: Offered[]; refused: NotOffered[] } {
  const offered: Offered[] = [];
  const refused: NotOffered[] = [];
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

/** Why these are too many for an agent; null: they are not. `chars`: of all their definitions. */
function tooMuch(tools: number, room: number, chars: number): string | null {
  if (tools > room)
    return `the agent has room for ${room} tools of all its servers, beside its own: choose with allowed_tools`;
  if (chars <= MAX_OFFERED_CHARS) return null;
  return `descriptions and schemas of all its servers' tools have at most ${MAX_OFFERED_CHARS} characters: choose with allowed_tools`;
}

const named = ({ server, bareName, name }: Offered): Named => ({
  server: server.name,
  tool: bareName,
  name,
});

/** Whether an agent's own filters and those of `server` let it have this tool of the server's. */
export const isWanted = (tool: Named, agent: McpTools, server: McpServer): boolean =>
  isLetIn(tool, server, [server]) && isLetIn(tool, agent, agent.servers);

type Filters = { allowedTools: readonly string[] | null; excludeTools: readonly string[] };

/** `servers`: those whose tools the filters choose from. */
function isLetIn(
  tool: Named,
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
export const toSpec = ({ server, name, tool }: Offered): ToolSpec => ({
  name,
  description: tool.description || `A tool of the server ${server.name}.`,
  parameters: { ...tool.inputSchema },
});
