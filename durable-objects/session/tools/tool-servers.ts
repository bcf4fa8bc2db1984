import type { Team } from "../../../src/config/team";
import {
  hasAllListings,
  changesListing,
  listingsOf,
  runningTurn,
  type ToolListing,
  type ToolListingEffect,
} from "../../../src/coordination";
import type { EventOf } from "../../../src/protocol/events";
import type { McpEnvironment, ServerListing } from "../../../src/tools/mcp/environment";
import { McpServers } from "../../../src/tools/mcp/mcp-servers";
import { type McpTools, serverId } from "../../../src/tools/mcp/server";
import { pinsOf, toListing } from "../../../src/tools/mcp/tool-listing";
import type { Tool } from "../../../src/tools/tool";
import type { RelaySlot, SessionInputs, SlotSource } from "../../../src/engine/ports";
import { TOOL_SERVERS } from "../../shared/object-limits";
import type { SessionLog } from "../log/session-log";
import type { SessionFacts } from "../session-facts";
import { ListingSlots } from "./listing-slots";
import type { ToolDefinitions } from "./tool-definitions";

type Options = {
  session: SessionInputs;
  /** The slots of calls of models and tools. */
  slots: SlotSource<RelaySlot>;
  /** Unix ms, by the session's clock. */
  now: () => number;
  log: SessionLog;
  definitions: ToolDefinitions;
  teams: SessionFacts["teams"];
  environment: Omit<McpEnvironment, "enter" | "listed" | "now">;
};

const WHOLE_LOG = { turn: 0, parent: null, firstSeq: 1, lastSeq: null };

/**
 * The tool servers of a session. The log names and pins the tools of each agent. A connection is
 * opened by the first request to a server and is kept while a turn runs. After a restart, the next
 * request opens it again.
 */
export class ToolServers {
  readonly #options: Options;
  readonly #servers: McpServers;
  readonly #listingSlots: ListingSlots;
  /** The team whose servers are registered. */
  #registered: Team | null = null;
  #closeTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#listingSlots = new ListingSlots(options.slots);
    this.#servers = new McpServers({
      ...options.environment,
      now: options.now,
      enter: (signal) => this.#listingSlots.enter(signal),
      listed: (listing) => this.#relisted(listing),
    });
  }

  /**
   * The current tools of an agent's servers. The servers are in the order of the config, and the
   * tools of each server in the order of its list.
   */
  toolsOf(agent: number): Tool[] {
    const turn = runningTurn(this.#options.session.state);
    if (!turn) return [];
    return listingsOf(turn, agent).flatMap((listing) => this.#toTools(listing));
  }

  /**
   * Lists the tools of an agent's servers, and reports them to the rules. Throws only
   * `signal.reason`.
   */
  async list({ agent }: ToolListingEffect, signal: AbortSignal): Promise<void> {
    const { id } = this.#agent(agent);
    this.#registerServers();
    await this.#servers.refreshFor(id, signal);
    // After an abort, another turn with another team may be running.
    signal.throwIfAborted();
    this.#reportTools(agent);
  }

  /** Closes all connections; requests in progress are aborted. */
  async close(): Promise<void> {
    clearTimeout(this.#closeTimer);
    this.#registered = null;
    await this.#servers.close();
  }

  #toTools({ agent, server: name, tools }: ToolListing): Tool[] {
    const server = this.#agent(agent).mcp?.servers.find((one) => one.name === name);
    if (!server) return [];
    return tools.map(({ tool: bareName, hash, ...rule }) => {
      const definition = this.#options.definitions.find(hash);
      const tool = this.#servers.tool(
        { server, bareName, name: rule.name, hash, tool: definition },
        rule,
      );
      return {
        ...tool,
        run: (args, context) => {
          this.#registerServers();
          return tool.run(args, context);
        },
      };
    });
  }

  /**
   * Stores the definitions of changed listings, and reports the listings to the rules, which log
   * them. There is no `await` in between, so the platform stores both or neither.
   */
  #reportTools(agent: number): void {
    const { session, definitions } = this.#options;
    const turn = runningTurn(session.state);
    if (!turn) return;
    const offers = this.#servers.offersFor(this.#agent(agent).id);
    const changedOffers = offers
      .map((offer) => ({ ...offer, listing: toListing(offer) }))
      .filter(({ listing }) => changesListing(turn, agent, listing));
    for (const { tools } of changedOffers)
      for (const { offered } of tools) definitions.add(offered.hash, offered.tool);
    if (changedOffers.length === 0) return;
    const listings = changedOffers.map(({ listing }) => listing);
    session.handle({ type: "tools_listed", agent, servers: listings });
  }

  /**
   * Reports the changes after a server was listed again, for agents that already have its tools.
   */
  #relisted({ id }: ServerListing): void {
    const { session, teams } = this.#options;
    const turn = runningTurn(session.state);
    if (!turn) return;
    for (const [agent, { mcp }] of teams.current().agents.entries()) {
      if (hasAllListings(turn, agent) && mcp?.servers.some((server) => serverId(server) === id))
        this.#reportTools(agent);
    }
  }

  /**
   * Registers the servers of the turn's team and the pinned tools of the session. From then on,
   * requests may open connections. They are closed when no turn has run for some time.
   */
  #registerServers(): void {
    this.#extendConnections();
    const { teams, log } = this.#options;
    const team = teams.current();
    if (this.#registered === team) return;
    this.#registered = team;
    const agentsOf = (turn: number) => serversOf(teams.of(turn));
    this.#servers.know(serversOf(team), pinsOf(listingsIn(log), agentsOf));
  }

  /**
   * Sets the time at which connections are closed if no turn runs. An open connection may keep the
   * object in memory, so connections must be closed soon after the turn.
   */
  #extendConnections(): void {
    clearTimeout(this.#closeTimer);
    this.#closeTimer = setTimeout(() => {
      if (runningTurn(this.#options.session.state)) this.#extendConnections();
      else void this.close();
    }, TOOL_SERVERS.restMs);
  }

  #agent(index: number) {
    const agent = this.#options.teams.current().agents[index];
    if (!agent) throw new Error(`no agent at index ${index}`);
    return agent;
  }
}

/** The tool servers of each agent that has some, by agent id. */
const serversOf = ({ agents }: Team): Map<string, McpTools> =>
  new Map(agents.flatMap(({ id, mcp }) => (mcp ? [[id, mcp] as const] : [])));

function* listingsIn(log: SessionLog) {
  for (const { turn, agent, body } of log.readType(WHOLE_LOG, "tools.listed")) {
    const { server, tools }: EventOf<"tools.listed"> = JSON.parse(body);
    yield { turn, agent: agent ?? "", server, tools };
  }
}
