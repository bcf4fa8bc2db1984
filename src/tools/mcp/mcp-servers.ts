import type { Tool } from "../tool";
import type { McpEnvironment, ServerListing } from "./environment";
import { describe, type NotOffered, type Offered, offerTo } from "./offer";
import type { Pins } from "./pins";
import { ArgumentsSchema } from "./schema";
import type { McpServer, McpTools } from "./server";
import { ServerLink } from "./server-link";
import { trustOf } from "./trust";
import { Turnstile } from "./turnstile";

/** Names the pins of a server: another address is another server. */
export const serverId = ({ name, url }: McpServer): string => `${name} ${url}`;

/**
 * The tool servers of a session. They are connected at once, once, and stay so for the session, over all agents, rounds and calls;
 * what breaks is connected again with the next call. Agents that name the same server in the same way share it.
 */
export class McpServers {
  readonly #env: McpEnvironment;
  readonly #large = new Turnstile();
  readonly #links = new Map<string, ServerLink>();
  readonly #agents = new Map<string, McpTools>();

  constructor(env: McpEnvironment) {
    this.#env = env;
  }

  /**
   * Connects all servers of these agents and lists their tools, all at once. `pins`: by `serverId`, as they were last told. A
   * server that cannot be reached keeps nobody from the others; `list` says so. May be called again, with more agents too.
   */
  async connect(agents: ReadonlyMap<string, McpTools>, pins: ReadonlyMap<string, Pins>, signal: AbortSignal): Promise<void> {
    for (const [agent, tools] of agents) {
      this.#agents.set(agent, tools);
      for (const server of tools.servers) this.#link(server, pins.get(serverId(server)) ?? {});
    }
    await this.refresh(signal);
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

  /** What its own config keeps from it although servers have it, or what no name was left for. */
  refusedTo(agent: string): NotOffered[] {
    return this.#offerTo(agent).refused;
  }

  /** Ends sessions with the servers; what is under way is cut. */
  async close(): Promise<void> {
    await Promise.all([...this.#links.values()].map((link) => link.close()));
    this.#links.clear();
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
    return offerTo(tools, new Map(listings));
  }

  #toTool(offered: Offered): Tool {
    const { server, bareName, name, tool } = offered;
    const { annotations: { readOnlyHint, idempotentHint } = {} } = tool;
    const { readOnly, idempotent } = trustOf(this.#env.trust, server.url, {
      name: bareName,
      hints: { readOnlyHint, idempotentHint },
    });
    return {
      spec: { name, description: describe(offered), parameters: { ...tool.inputSchema } },
      rule: { name, acts_outside: !readOnly, idempotent },
      run: async (args, context) => {
        const parsed = ArgumentsSchema.safeParse(args ?? {});
        const link = this.#links.get(linkKey(server));
        if (!parsed.success) return { outcome: "error", text: `The arguments of \`${name}\` must be a JSON object.` };
        if (!link) return { outcome: "error", text: `The tool server ${server.name} is not connected any more.` };
        return link.call(offered, parsed.data, context, idempotent);
      },
    };
  }
}

/** Filters belong to the agent, not to the connection. */
const linkKey = ({ allowedTools: _allowed, excludeTools: _excluded, ...server }: McpServer): string => JSON.stringify(server);

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
