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
import { serverId } from "../../../src/tools/mcp/server";
import { pinsOf, toListing } from "../../../src/tools/mcp/tool-listing";
import type { Tool } from "../../../src/tools/tool";
import type { SessionInputs } from "../../../src/engine/ports";
import type { Semaphore } from "../../../src/async/semaphore";
import { TOOL_SERVERS } from "../../shared/object-limits";
import type { SessionLog } from "../log/session-log";
import { ListingSlots } from "./listing-slots";
import type { ToolDefinitions } from "./tool-definitions";

type Options = {
  session: SessionInputs;
  /** The slots of calls of models and tools. */
  slots: Semaphore;
  /** Unix ms, by the session's clock. */
  now: () => number;
  log: SessionLog;
  definitions: ToolDefinitions;
  team: Team;
  environment: Omit<McpEnvironment, "enter" | "listed" | "now">;
};

const WHOLE_LOG = { turn: 0, parent: null, firstSeq: 1, lastSeq: null };

/**
 * The tool servers of a session. The log names and pins the tools of each agent. Connections are
 * opened by the first request to a server, kept while the session works, and opened again after a
 * restart.
 */
export class ToolServers {
  readonly #options: Options;
  readonly #servers: McpServers;
  readonly #places: ListingSlots;
  #isKnown = false;
  #rest: ReturnType<typeof setTimeout> | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#places = new ListingSlots(options.slots);
    this.#servers = new McpServers({
      ...options.environment,
      now: options.now,
      enter: (signal) => this.#places.enter(signal),
      listed: (listing) => this.#relisted(listing),
    });
  }

  /** The present tools of an agent's servers, in the order of its config and of their lists. */
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
    this.#reportTools(agent);
  }

  /** Closes all connections; requests in progress are aborted. */
  async close(): Promise<void> {
    clearTimeout(this.#rest);
    this.#isKnown = false;
    await this.#servers.close();
  }

  #toTools({ agent, server: name, tools }: ToolListing): Tool[] {
    const server = this.#agent(agent).mcp?.servers.find((one) => one.name === name);
    if (!server) return [];
    return tools.map(({ tool: bareName, hash, ...rule }) => {
      const definition = this.#options.definitions.find(hash);
      const made = this.#servers.tool(
        { server, bareName, name: rule.name, hash, tool: definition },
        rule,
      );
      return {
        ...made,
        run: (args, context) => {
          this.#registerServers();
          return made.run(args, context);
        },
      };
    });
  }

  /**
   * Stores and logs changed listings. No `await` in between, so the platform stores both or
   * neither.
   */
  #reportTools(agent: number): void {
    const { session, definitions } = this.#options;
    const turn = runningTurn(session.state);
    if (!turn) return;
    const offers = this.#servers.offersFor(this.#agent(agent).id);
    const news = offers
      .map((offer) => ({ ...offer, listing: toListing(offer) }))
      .filter(({ listing }) => changesListing(turn, agent, listing));
    for (const { tools } of news)
      for (const { offered } of tools) definitions.add(offered.hash, offered.tool);
    if (news.length > 0)
      session.handle({ type: "tools_listed", agent, servers: news.map(({ listing }) => listing) });
  }

  /** A server was listed again: reports the changes to agents that already have its tools. */
  #relisted({ id }: ServerListing): void {
    const { session, team } = this.#options;
    const turn = runningTurn(session.state);
    if (!turn) return;
    for (const [agent, { mcp }] of team.agents.entries()) {
      if (hasAllListings(turn, agent) && mcp?.servers.some((server) => serverId(server) === id))
        this.#reportTools(agent);
    }
  }

  /**
   * Registers the servers with the session's pins. From then on they may be connected, until the
   * session stops working.
   */
  #registerServers(): void {
    this.#extendConnections();
    if (this.#isKnown) return;
    this.#isKnown = true;
    const { team, log } = this.#options;
    const agents = new Map(team.agents.flatMap(({ id, mcp }) => (mcp ? [[id, mcp] as const] : [])));
    this.#servers.know(agents, pinsOf(listingsIn(log), agents));
  }

  /**
   * A connection may hold a stream open, which keeps the object in memory. It must be closed soon
   * after the work ends.
   */
  #extendConnections(): void {
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => {
      if (runningTurn(this.#options.session.state)) this.#extendConnections();
      else void this.close();
    }, TOOL_SERVERS.restMs);
  }

  #agent(index: number) {
    const agent = this.#options.team.agents[index];
    if (!agent) throw new Error(`no agent at index ${index}`);
    return agent;
  }
}

function* listingsIn(log: SessionLog) {
  for (const { agent, body } of log.readType(WHOLE_LOG, "tools.listed")) {
    const { server, tools }: EventOf<"tools.listed"> = JSON.parse(body);
    yield { agent: agent ?? "", server, tools };
  }
}
