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

/** The state of one server for one agent; for the fields see `ServerListing`. */
export type ServerOffer = Pick<ServerListing, "version" | "problem" | "refused" | "more"> & {
  server: string;
  tools: { offered: OfferedTool; rule: ToolRule }[];
};

/**
 * The tool servers of a session. Each is connected once and stays connected for all agents, rounds
 * and calls; a broken connection is reopened by the next call. Agents with the same server settings
 * share a connection.
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
   * Connects the servers of these agents and lists their tools, in parallel. `pins` are the last
   * known ones, by `serverId`. An unreachable server does not affect the others; `list` reports it.
   * May be called again, also with more agents.
   */
  async connect(
    agents: ReadonlyMap<string, McpTools>,
    pins: ReadonlyMap<string, Pins>,
    signal: AbortSignal,
  ): Promise<void> {
    this.know(agents, pins);
    await this.refresh(signal);
  }

  /** The same without connecting; that happens on a call or a listing. */
  know(agents: ReadonlyMap<string, McpTools>, pins: ReadonlyMap<string, Pins>): void {
    for (const [agent, tools] of agents) {
      this.#agents.set(agent, tools);
      for (const server of tools.servers) this.#link(server, pins.get(serverId(server)) ?? {});
    }
  }

  /** Lists one agent's servers again, and connects those that are not connected. */
  async refreshFor(agent: string, signal: AbortSignal): Promise<void> {
    const servers = this.#agents.get(agent)?.servers ?? [];
    await Promise.all(servers.map((server) => this.#links.get(linkKey(server))?.refresh(signal)));
  }

  /**
   * Lists all servers again and connects those that are not connected, for example before a round.
   */
  async refresh(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.refresh(signal)));
  }

  list(): ServerListing[] {
    return [...this.#links.values()].map(toListing);
  }

  /** The tools of an agent after its filters, in the order of its config and of the listings. */
  toolsFor(agent: string): Tool[] {
    return this.#offerTo(agent).offered.map((tool) => this.#toTool(tool));
  }

  /** The same by server, with the state of each. */
  offersFor(agent: string): ServerOffer[] {
    const { offered, refused } = this.#offerTo(agent);
    const tools = this.#agents.get(agent);
    return (tools?.servers ?? []).flatMap((server) => {
      const link = this.#links.get(linkKey(server));
      if (!link || !tools) return [];
      const { problem, version, listing } = link;
      const unfit = listing.refused.filter((one) => isWanted(one, tools, server));
      const ofServer = <T>(all: readonly T[], nameOf: (one: T) => string) =>
        all.filter((one) => nameOf(one) === server.name);
      return {
        server: server.name,
        version,
        problem,
        tools:
          problem === null
            ? ofServer(offered, (one) => one.server.name).map((one) => ({
                offered: one,
                rule: this.#ruleOf(one),
              }))
            : [],
        refused: problem === null ? [...unfit, ...ofServer(refused, (one) => one.server)] : [],
        more: listing.more,
      };
    });
  }

  /** Tools that pass the agent's filters but exceed its limits or cannot be used by its model. */
  refusedTo(agent: string): WithheldTool[] {
    return this.#offerTo(agent).refused;
  }

  /** Ends the sessions with the servers and aborts running calls. Keeps renewed tokens. */
  async close(): Promise<void> {
    const links = [...this.#links.values()];
    this.#links.clear(); // first, so that concurrent callers get new links
    await Promise.all(links.map((link) => link.close()));
  }

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
      listed: (one) => this.#env.listed?.(toListing(one)),
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
      ...(ownTools && { own: ownTools(agent) }),
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
    const reads = (server.readOnlyTools ?? []).some(
      (one) => isNamedBy(one, bareName) || isNamedBy(one, name),
    );
    return {
      name,
      acts_outside: !readOnly,
      idempotent,
      ...(reads && !readOnly && { runs_in_planning: true }),
    };
  }

  #toTool(offered: OfferedTool): Tool {
    return this.tool(offered, this.#ruleOf(offered));
  }

  /**
   * A tool from a previous offer, possibly before a restart, under its original rule. Its server
   * must be known.
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

/** Filters belong to the agent, not to the connection. */
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
