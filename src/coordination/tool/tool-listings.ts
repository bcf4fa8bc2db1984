import type { EventOf, ListedTool, ToolsListing } from "../../protocol/events";
import { LIMITS } from "../limits";
import type { RoundState, ToolListing, TurnState } from "../state";

/**
 * Tools of the agents' tool servers. Listed once per turn before an agent's first call, and again
 * after a change.
 */

/** Whether each of the agent's servers has listed its tools in this turn, or has failed to. */
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
 * Whether a listing is the first of its server in the turn or changes the agent's tools. After
 * `listingsPerServer` listings always false.
 */
export function changesListing(
  turn: TurnState,
  agent: number,
  { server, tools }: ToolsListing,
): boolean {
  if (!turn.rules.agents[agent]?.tool_servers?.includes(server)) return false;
  const known = findListing(turn, agent, server);
  return !known || (known.times < LIMITS.listingsPerServer && !isSame(known.tools, tools));
}

/** All listings of the turn, including the one in this event. */
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

const isSame = (one: readonly ListedTool[], other: readonly ListedTool[]): boolean =>
  one.length === other.length && one.every((tool, nth) => isSameTool(tool, other[nth]));

const isSameTool = (one: ListedTool, other: ListedTool | undefined): boolean =>
  one.name === other?.name &&
  one.hash === other.hash &&
  one.acts_outside === other.acts_outside &&
  (one.runs_in_planning ?? false) === (other.runs_in_planning ?? false) &&
  one.idempotent === other.idempotent;
