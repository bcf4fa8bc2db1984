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
import { cutText, escapeInvisible } from "./shown-text";

/** A listed tool, the hash of its definition (see `toolHash`), and its full name. */
export type HashedTool = { tool: McpTool; hash: string; name: string };

/** Adds the hash and the full name to a tool that this server has listed. */
export async function hashTool(server: string, tool: McpTool): Promise<HashedTool> {
  const [hash, name] = await Promise.all([toolHash(tool), fullName(server, tool.name)]);
  return { tool, hash, name };
}

/** A tool that may be offered to an agent. */
export type OfferedTool = {
  server: McpServer;
  /** The tool's name on its server. */
  bareName: string;
  /** The full name, see `fullName`. */
  name: string;
  /** The tool's pin. */
  hash: string;
  /** The definition of the tool. */
  tool: McpTool;
};

/**
 * A tool that is not offered. `server` and `tool` are names, `why` is the reason as a clause.
 * `changed`: whether the tool differs from its pin.
 */
export type WithheldTool = { server: string; tool: string; why: string; changed: boolean };

/** A tool that is not offered, with its full name, which filters need. */
export type RefusedTool = WithheldTool & { name: string };

/** The tools that one server has listed, checked against its pins. */
export type Listing = {
  offered: OfferedTool[];
  refused: RefusedTool[];
  /** The pins after this listing. */
  pins: Pins;
  /** Bare names that this listing has pinned. */
  added: string[];
  /** Number of tools above the limit. They are ignored. */
  more: number;
};

/**
 * Refuses tools whose definitions repeat a secret that the server was shown. Returns the other
 * tools, and the refused tools without their secrets.
 */
export async function refuseLeaks(
  server: string,
  tools: readonly McpTool[],
  secrets: { isIn(text: string): boolean; clean(text: string): string },
): Promise<{ safe: McpTool[]; refused: RefusedTool[] }> {
  const leaking = new Set(tools.filter((tool) => secrets.isIn(JSON.stringify(tool))));
  const why = "what the server says of it repeats what we showed the server to be let in";
  const refused = [...leaking].map(async ({ name }): Promise<RefusedTool> => {
    const tool = secrets.clean(escapeInvisible(name));
    return { server, tool, name: await fullName(server, tool), why, changed: false };
  });
  return {
    safe: tools.filter((tool) => !leaking.has(tool)),
    refused: await Promise.all(refused),
  };
}

/** Checks a server's listing. Returns the tools to offer, the tools to refuse, and the new pins. */
export function judgeListing(
  server: McpServer,
  listing: readonly HashedTool[],
  pins: Pins,
): Listing {
  const checkedTools = listing.slice(0, MAX_TOOLS);
  const seenNames = new Set<string>();
  const refused: RefusedTool[] = [];
  const refuse = (tool: string, name: string, why: string, changed = false) =>
    refused.push({
      server: server.name,
      tool: cutText(escapeInvisible(tool), 200),
      name,
      why,
      changed,
    });
  const validTools = checkedTools.filter(({ tool, name }) => {
    const problem = seenNames.has(tool.name)
      ? "the server has listed the name already"
      : toolProblem(tool);
    seenNames.add(tool.name);
    if (problem !== null) refuse(tool.name, name, problem);
    return problem === null;
  });
  const check = checkPins(
    pins,
    validTools.map((hashedTool) => ({
      ...hashedTool,
      name: hashedTool.tool.name,
      fullName: hashedTool.name,
    })),
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
    more: listing.length - checkedTools.length,
  };
}

/** Why a listed tool is refused, as a clause; `null` if it is not refused. */
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
 * The parts of a tool's definition that are used: for the model, for a call, and the server's
 * annotations. The result is limited in size and deterministic, so that it can be stored. The
 * description is cut, and invisible characters in it are escaped. The output schema is not
 * included, because results are not validated, see `Connection.call`.
 */
function toDefinition({ name, title, description, inputSchema, annotations }: McpTool): McpTool {
  return {
    name,
    description: cutText(escapeInvisible(description ?? title ?? "").trim(), MAX_DESCRIPTION_CHARS),
    inputSchema,
    ...(annotations && { annotations }),
  };
}

/** Limits for the tools that an agent gets from its servers. */
export type OfferLimits = {
  /** Number of the agent's other tools. Default: 0. */
  ownTools?: number;
  /** Why the agent's model cannot use a tool, as a clause; `null` if the model can use it. */
  unfit?: (tool: ToolSpec, hash: string) => string | null;
};

/**
 * The tools that one agent gets from its servers. The filters of the server and of the agent allow
 * them, they are within the agent's limits, and the agent's model can use them. Servers come in the
 * order of the config. A tool that the model cannot use counts towards the limits too, because its
 * check takes time.
 */
export function offerTo(
  agent: McpTools,
  listings: ReadonlyMap<string, readonly OfferedTool[]>,
  { ownTools = 0, unfit = () => null }: OfferLimits = {},
): { offered: OfferedTool[]; refused: WithheldTool[] } {
  const offered: OfferedTool[] = [];
  const refused: WithheldTool[] = [];
  const maxTools = Math.max(0, MAX_OFFERED - ownTools);
  let [checkedTools, chars] = [0, 0];
  const wantedTools = agent.servers.flatMap((server) =>
    (listings.get(server.name) ?? []).filter((tool) => isWanted(namesOf(tool), agent, server)),
  );
  for (const tool of wantedTools) {
    const size = JSON.stringify(tool.tool).length;
    const problem = limitProblem(checkedTools + 1, maxTools, chars + size);
    if (problem === null) [checkedTools, chars] = [checkedTools + 1, chars + size];
    const why = problem ?? unfit(toSpec(tool), tool.hash);
    if (why === null) offered.push(tool);
    else
      refused.push({
        server: tool.server.name,
        tool: tool.bareName,
        why: cutText(escapeInvisible(why), MAX_WHY_CHARS),
        changed: false,
      });
  }
  return { offered, refused };
}

/**
 * Which limit of an agent is exceeded, as a clause; `null` if none is. `tools` and `chars` are the
 * number of its tools and of the characters in their definitions.
 */
function limitProblem(tools: number, maxTools: number, chars: number): string | null {
  if (tools > maxTools)
    return `the agent has room for ${maxTools} tools of all its servers, beside its own: choose with allowed_tools`;
  if (chars <= MAX_OFFERED_CHARS) return null;
  return `descriptions and schemas of all its servers' tools have at most ${MAX_OFFERED_CHARS} characters: choose with allowed_tools`;
}

const namesOf = ({ server, bareName, name }: OfferedTool): ToolNames => ({
  server: server.name,
  tool: bareName,
  name,
});

/** Whether the filters of the agent and of `server` allow this tool. */
export const isWanted = (tool: ToolNames, agent: McpTools, server: McpServer): boolean =>
  passesFilters(tool, server, [server]) && passesFilters(tool, agent, agent.servers);

type Filters = { allowedTools: readonly string[] | null; excludeTools: readonly string[] };

/** Whether filters allow a tool. `servers` are all servers that these filters apply to. */
function passesFilters(
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

/** A tool as the model sees it. */
export const toSpec = ({ server, name, tool }: OfferedTool): ToolSpec => ({
  name,
  description: tool.description || `A tool of the server ${server.name}.`,
  parameters: { ...tool.inputSchema },
});
