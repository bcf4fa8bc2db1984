import type { Tool as McpTool } from "@modelcontextprotocol/client";
import { MAX_DESCRIPTION_CHARS, MAX_OFFERED, MAX_SCHEMA_CHARS, MAX_TOOLS } from "./limits";
import { distinct, fullName, isNamed, nameProblem } from "./names";
import { checkPins, type Pins } from "./pins";
import type { McpServer, McpTools } from "./server";
import { cutText, shown } from "./shown-text";

/** A tool of a listing, and the hash of it as the server told it. */
export type Hashed = { tool: McpTool; hash: string };

/** A tool that an agent may be offered. */
export type Offered = { server: McpServer; bareName: string; name: string; hash: string; tool: McpTool };

/** A tool that is not offered, and why, as a clause. `changed`: it is not what was pinned. */
export type NotOffered = { server: string; tool: string; why: string; changed: boolean };

/** What one server has listed, against its pins. */
export type Listing = { offered: Offered[]; refused: NotOffered[]; pins: Pins; added: string[]; more: number };

/** Judges what a server listed: what may be offered, what may not, what is pinned from now on. Pure. */
export function judgeListing(server: McpServer, listing: readonly Hashed[], pins: Pins): Listing {
  const looked = listing.slice(0, MAX_TOOLS);
  const seen = new Set<string>();
  const refused: NotOffered[] = [];
  const refuse = (tool: string, why: string, changed = false) =>
    refused.push({ server: server.name, tool: cutText(shown(tool), 200), why, changed });
  const sound = looked.filter(({ tool }) => {
    const problem = seen.has(tool.name) ? "the server has listed the name already" : toolProblem(tool);
    seen.add(tool.name);
    if (problem !== null) refuse(tool.name, problem);
    return problem === null;
  });
  const check = checkPins(
    pins,
    sound.map(({ tool, hash }) => ({ name: tool.name, hash, tool })),
  );
  for (const { name } of check.changed) refuse(name, "the server has changed it since it was first seen", true);
  const offered = check.same.map(({ name, hash, tool }) => ({
    server,
    bareName: name,
    name: fullName(server.name, name),
    hash,
    tool,
  }));
  return { offered, refused, pins: check.pins, added: check.added, more: listing.length - looked.length };
}

function toolProblem(tool: McpTool): string | null {
  const problem = nameProblem(tool.name);
  if (problem !== null) return problem;
  const size = JSON.stringify(tool.inputSchema).length;
  return size > MAX_SCHEMA_CHARS ? `its schema has ${size} characters, more than ${MAX_SCHEMA_CHARS}` : null;
}

/** What one agent gets of the listings of its servers: filtered at both levels, each under a name of its own. */
export function offerTo(
  agent: McpTools,
  listings: ReadonlyMap<string, readonly Offered[]>,
): { offered: Offered[]; refused: NotOffered[] } {
  const offered: Offered[] = [];
  const refused: NotOffered[] = [];
  const taken = new Set<string>();
  for (const server of agent.servers) {
    const wanted = (listings.get(server.name) ?? []).filter((tool) => isWanted(tool, server) && isWanted(tool, agent));
    for (const [nth, tool] of wanted.entries()) {
      const name = distinct(tool.name, tool.hash, taken);
      const why =
        nth >= MAX_OFFERED ? `an agent is offered at most ${MAX_OFFERED} tools of one server: choose with allowed_tools` : null;
      if (why !== null || taken.has(name)) {
        refused.push({ server: server.name, tool: tool.bareName, why: why ?? "another tool has its name", changed: false });
        continue;
      }
      taken.add(name);
      offered.push({ ...tool, name });
    }
  }
  return { offered, refused };
}

type Filters = { allowedTools: readonly string[] | null; excludeTools: readonly string[] };

function isWanted({ bareName, name, server }: Offered, { allowedTools, excludeTools }: Filters): boolean {
  const names = [bareName, name, `mcp__${server.name}__${bareName}`];
  return (allowedTools === null || isNamed(allowedTools, names)) && !isNamed(excludeTools, names);
}

/** A description as models see it: data, shortened, with what cannot be seen shown. */
export function describe({ server, tool }: Offered): string {
  const said = cutText(shown(tool.description ?? tool.title ?? "").trim(), MAX_DESCRIPTION_CHARS);
  return said === "" ? `A tool of the server ${server.name}.` : said;
}
