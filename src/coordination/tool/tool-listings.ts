import type { EventOf, ListedTool, ToolsListing } from "../../protocol/events";
import { LIMITS } from "../limits";
import type { RoundState, ToolListing, TurnState } from "../state";

/**
 * The tools of the agents' tool servers. A server's tools are listed in each turn before an agent's
 * first call, and again after a change.
 */

/**
 * Whether the listings of all the agent's servers are recorded in this turn. A failed listing is
 * recorded too.
 */
export const hasAllListings = (turn: TurnState, agent: number): boolean =>
  (turn.rules.agents[agent]?.tool_servers ?? []).every(
    (server) => findListing(turn, agent, server) !== undefined,
  );

/** Listings of the agent's servers, in the order of its config. */
export const listingsOf = (turn: TurnState, agent: number): ToolListing[] =>
  (turn.rules.agents[agent]?.tool_servers ?? []).flatMap(
    (server) => findListing(turn, agent, server) ?? [],
  );

/** The agent's tools from all its servers. */
export const listedTools = (turn: TurnState, agent: number): ListedTool[] =>
  listingsOf(turn, agent).flatMap(({ tools }) => tools);

/**
 * Whether the round's next call must wait for listings. Judgement and persona calls use no tools.
 */
export const awaitsListings = (turn: TurnState, agent: number, { purpose }: RoundState): boolean =>
  (purpose === "coordination" || purpose === "presentation") && !hasAllListings(turn, agent);

/**
 * Whether a listing must be recorded: it is the first of its server in the turn, or it changes the
 * agent's tools. After `listingsPerServer` listings, no further listing is recorded.
 */
export function changesListing(
  turn: TurnState,
  agent: number,
  { server, tools }: ToolsListing,
): boolean {
  if (!turn.rules.agents[agent]?.tool_servers?.includes(server)) return false;
  const earlier = findListing(turn, agent, server);
  return !earlier || (earlier.times < LIMITS.listingsPerServer && !isSame(earlier.tools, tools));
}

/** All listings of the turn, including the listing in this event. */
export function withListing(turn: TurnState, event: EventOf<"tools.listed">): ToolListing[] {
  const agent = turn.rules.agents.findIndex(({ id }) => id === event.agent);
  const { server, tools } = event;
  const times = (findListing(turn, agent, server)?.times ?? 0) + 1;
  const others = (turn.listings ?? []).filter(
    (listing) => listing.agent !== agent || listing.server !== server,
  );
  return [...others, { agent, server, tools, times }];
}

const findListing = (
  { listings = [] }: TurnState,
  agent: number,
  server: string,
): ToolListing | undefined =>
  listings.find((listing) => listing.agent === agent && listing.server === server);

const isSame = (a: readonly ListedTool[], b: readonly ListedTool[]): boolean =>
  a.length === b.length && a.every((tool, index) => isSameTool(tool, b[index]));

const isSameTool = (a: ListedTool, b: ListedTool | undefined): boolean =>
  a.name === b?.name &&
  a.hash === b.hash &&
  a.acts_outside === b.acts_outside &&
  (a.runs_in_planning ?? false) === (b.runs_in_planning ?? false) &&
  a.idempotent === b.idempotent;
