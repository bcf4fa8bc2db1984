import type { ToolRule } from "../../protocol/team";
import type { Tool } from "../tool";
import type { McpEnvironment, ServerListing } from "./environment";
import { isWanted, type WithheldTool, type OfferedTool, offerTo, toSpec } from "./offer";
import type { Pins } from "./pins";
import { RenewedTokens } from "./renewed-tokens";
import { ArgumentsSchema } from "./schema";
import { type McpServer, type McpTools, serverId } from "./server";
import { ServerLink } from "./server-link";
import { isNamedBy, trustOf } from "./trust";
import { Mutex } from "../../async/mutex";

/** The state of one server for one agent. For the other fields, see `ServerListing`. */
export type ServerOffer = Pick<ServerListing, "version" | "problem" | "refused" | "more"> & {
  /** Name of the server. */
  server: string;
  /** The tools that the agent gets, with their rules. */
  tools: { offered: OfferedTool; rule: ToolRule }[];
};

/**
 * The tool servers of a session. Each server is connected once, for all agents, rounds and calls.
 * The next call reopens a broken connection. Agents with the same server settings share a
 * connection.
 */
export class McpServers {
  readonly #env: McpEnvironment;
  readonly #large: Mutex;
  readonly #tokens: RenewedTokens;
  readonly #links = new Map<string, ServerLink>();
  readonly #agents = new Map<string, McpTools>();

  constructor(env: McpEnvironment) {
    this.#env = env;
    this.#large = env.large ?? new Mutex();
    this.#tokens = new RenewedTokens(env.tokens ?? new Map<string, string>());
  }

  /**
   * Connects the servers of these agents and lists their tools, in parallel. `pins` are the pins of
   * the session so far, by `serverId`. An unreachable server does not affect the others; `list`
   * reports it. This method may be called again, also with more agents.
   */
  async connect(
    agents: ReadonlyMap<string, McpTools>,
    pins: ReadonlyMap<string, Pins>,
    signal: AbortSignal,
  ): Promise<void> {
    this.know(agents, pins);
    await this.refresh(signal);
  }

  /** Adds agents as `connect` does, but does not connect. The first call or listing connects. */
  know(agents: ReadonlyMap<string, McpTools>, pins: ReadonlyMap<string, Pins>): void {
    for (const [agent, tools] of agents) {
      this.#agents.set(agent, tools);
      for (const server of tools.servers) this.#link(server, pins.get(serverId(server)) ?? {});
    }
  }

  /** Lists the servers of one agent again, and connects each server that is not connected. */
  async refreshFor(agent: string, signal: AbortSignal): Promise<void> {
    const servers = this.#agents.get(agent)?.servers ?? [];
    await Promise.all(servers.map((server) => this.#links.get(linkKey(server))?.refresh(signal)));
  }

  /** Lists all servers again, for example before a round. Connects each unconnected server. */
  async refresh(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.refresh(signal)));
  }

  /** The last known state of all servers. */
  list(): ServerListing[] {
    return [...this.#links.values()].map(toListing);
  }

  /** The tools of an agent after its filters, in the order of its config and of the listings. */
  toolsFor(agent: string): Tool[] {
    return this.#offerTo(agent).offered.map((tool) => this.#toTool(tool));
  }

  /** The tools of an agent after its filters, grouped by server, with the state of each server. */
  offersFor(agent: string): ServerOffer[] {
    const { offered, refused } = this.#offerTo(agent);
    const tools = this.#agents.get(agent);
    return (tools?.servers ?? []).flatMap((server) => {
      const link = this.#links.get(linkKey(server));
      if (!link || !tools) return [];
      const { problem, version, listing } = link;
      const refusedByServer = listing.refused.filter((tool) => isWanted(tool, tools, server));
      const ofServer = <T>(all: readonly T[], serverNameOf: (tool: T) => string) =>
        all.filter((tool) => serverNameOf(tool) === server.name);
      return {
        server: server.name,
        version,
        problem,
        tools:
          problem === null
            ? ofServer(offered, (tool) => tool.server.name).map((tool) => ({
                offered: tool,
                rule: this.#ruleOf(tool),
              }))
            : [],
        refused:
          problem === null ? [...refusedByServer, ...ofServer(refused, (tool) => tool.server)] : [],
        more: listing.more,
      };
    });
  }

  /** Tools that pass the agent's filters but exceed its limits or cannot be used by its model. */
  refusedTo(agent: string): WithheldTool[] {
    return this.#offerTo(agent).refused;
  }

  /**
   * Ends the sessions with the servers and aborts running calls. Renewed tokens are not deleted.
   */
  async close(): Promise<void> {
    const links = [...this.#links.values()];
    this.#links.clear(); // before closing, so that concurrent callers get new links
    await Promise.all(links.map((link) => link.close()));
  }

  /** The link to a server. Agents with the same server settings share it. */
  #link(server: McpServer, pins: Pins): ServerLink {
    const key = linkKey(server);
    const known = this.#links.get(key);
    if (known) return known;
    const link = new ServerLink({
      server,
      env: this.#env,
      pins,
      large: this.#large,
      tokens: this.#tokens,
      onListed: (listedLink) => this.#env.listed?.(toListing(listedLink)),
    });
    this.#links.set(key, link);
    return link;
  }

  #offerTo(agent: string) {
    const tools = this.#agents.get(agent) ?? { servers: [], allowedTools: null, excludeTools: [] };
    const listings = tools.servers.map((server) => {
      const offered = this.#links.get(linkKey(server))?.listing.offered ?? [];
      // The listing is shared by agents with different filters.
      return [server.name, offered.map((tool) => ({ ...tool, server }))] as const;
    });
    const { ownTools, unfit } = this.#env;
    return offerTo(tools, new Map(listings), {
      ...(ownTools && { ownTools: ownTools(agent) }),
      ...(unfit && { unfit: (tool, hash) => unfit(agent, tool, hash) }),
    });
  }

  /** The rule for a tool, from the operator's trust and the server's annotations. */
  #ruleOf({ server, bareName, name, tool }: OfferedTool): ToolRule {
    const { annotations: { readOnlyHint, idempotentHint } = {} } = tool;
    const { readOnly, idempotent } = trustOf(this.#env.trust, server.url, {
      name: bareName,
      hints: { readOnlyHint, idempotentHint },
    });
    const isDeclaredReadOnly = (server.readOnlyTools ?? []).some(
      (pattern) => isNamedBy(pattern, bareName) || isNamedBy(pattern, name),
    );
    return {
      name,
      acts_outside: !readOnly,
      idempotent,
      ...(isDeclaredReadOnly && !readOnly && { runs_in_planning: true }),
    };
  }

  #toTool(offered: OfferedTool): Tool {
    return this.tool(offered, this.#ruleOf(offered));
  }

  /**
   * The tool of a previous offer, with the rule of that offer. The offer may be from before a
   * restart. The tool's server must have been added with `connect` or `know`.
   */
  tool(offered: OfferedTool, rule: ToolRule): Tool {
    const { server, name } = offered;
    return {
      spec: toSpec(offered),
      rule,
      leavesFiles: true,
      run: async (args, context) => {
        const parsed = ArgumentsSchema.safeParse(args ?? {});
        const link = this.#links.get(linkKey(server));
        if (!parsed.success)
          return { outcome: "error", text: `The arguments of \`${name}\` must be a JSON object.` };
        if (!link)
          return {
            outcome: "error",
            text: `The tool server ${server.name} is not connected any more.`,
          };
        return link.call(offered, parsed.data, context, rule.idempotent);
      },
    };
  }
}

/** The key of a link: all settings of a server except its filters, which belong to the agent. */
const linkKey = ({
  allowedTools: _allowed,
  excludeTools: _excluded,
  ...server
}: McpServer): string => JSON.stringify(server);

function toListing(link: ServerLink): ServerListing {
  const { server, listing, problem, version } = link;
  return {
    id: serverId(server),
    name: server.name,
    url: server.url,
    version,
    problem,
    tools: listing.offered.map(({ bareName }) => bareName),
    refused: listing.refused,
    pins: listing.pins,
    added: listing.added,
    more: listing.more,
  };
}
