import type { ToolRule } from "../../protocol/team";
import type { Tool } from "../tool";
import type { McpEnvironment, ServerListing } from "./environment";
import { isWanted, type NotOffered, type Offered, offerTo, toSpec } from "./offer";
import type { Pins } from "./pins";
import { RenewedTokens } from "./renewed-tokens";
import { ArgumentsSchema } from "./schema";
import { type McpServer, type McpTools, serverId } from "./server";
import { ServerLink } from "./server-link";
import { isNamedBy, trustOf } from "./trust";
import { Mutex } from "../../async/mutex";

/** What one server has for one agent; see `ServerListing` for the fields of the same names. */
export type ServerOffer = Pick<ServerListing, "version" | "problem" | "refused" | "more"> & {
  server: string;
  tools: { offered: Offered; rule: ToolRule }[];
};

/**
 * The tool servers of a session. They are connected at once, once, and stay so for the session, over all agents, rounds and calls;
 * what breaks is connected again with the next call. Agents that name the same server in the same way share it.
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
   * Connects all servers of these agents and lists their tools, all at once. `pins`: by `serverId`, as they were last told. A
   * server that cannot be reached keeps nobody from the others; `list` says so. May be called again, with more agents too.
   */
  async connect(
    agents: ReadonlyMap<string, McpTools>,
    pins: ReadonlyMap<string, Pins>,
    signal: AbortSignal,
  ): Promise<void> {
    this.know(agents, pins);
    await this.refresh(signal);
  }

  /** The same without connecting: that happens when a tool is called or an agent's servers are listed. */
  know(agents: ReadonlyMap<string, McpTools>, pins: ReadonlyMap<string, Pins>): void {
    for (const [agent, tools] of agents) {
      this.#agents.set(agent, tools);
      for (const server of tools.servers) this.#link(server, pins.get(serverId(server)) ?? {});
    }
  }

  /** Lists one agent's servers anew, and connects those that are not connected. */
  async refreshFor(agent: string, signal: AbortSignal): Promise<void> {
    const servers = this.#agents.get(agent)?.servers ?? [];
    await Promise.all(servers.map((server) => this.#links.get(linkKey(server))?.refresh(signal)));
  }

  /** Lists all servers anew, and connects what is not connected: before a round, say, so that it is offered what there is. */
  async refresh(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.refresh(signal)));
  }

  list(): ServerListing[] {
    return [...this.#links.values()].map(toListing);
  }

  /** What an agent may use, by its own filters, in the order of its config and of its servers' lists. */
  toolsFor(agent: string): Tool[] {
    return this.#offerTo(agent).offered.map((tool) => this.#toTool(tool));
  }

  /** The same by server, with all there is to say of each. */
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

  /** What it has no room for, or its model cannot be told of, although servers have it and its config lets it in. */
  refusedTo(agent: string): NotOffered[] {
    return this.#offerTo(agent).refused;
  }

  /** Ends sessions with the servers; what is under way is cut. Renewed tokens stay. */
  async close(): Promise<void> {
    const links = [...this.#links.values()];
    this.#links.clear(); // first: whoever asks meanwhile gets new ones
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
      // Shared by agents whose filters may differ.
      return [server.name, offered.map((tool) => ({ ...tool, server }))] as const;
    });
    const { ownTools, unfit } = this.#env;
    return offerTo(tools, new Map(listings), {
      ...(ownTools && { own: ownTools(agent) }),
      ...(unfit && { unfit: (tool, hash) => unfit(agent, tool, hash) }),
    });
  }

  /** What operator and server together say of a tool. */
  #ruleOf({ server, bareName, name, tool }: Offered): ToolRule {
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

  #toTool(offered: Offered): Tool {
    return this.tool(offered, this.#ruleOf(offered));
  }

  /** A tool as it was offered, now or before a restart, under the rule it was offered by; its server must be known. */
  tool(offered: Offered, rule: ToolRule): Tool {
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
