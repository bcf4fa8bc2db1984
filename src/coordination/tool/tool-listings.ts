import type { EventOf, ListedTool, ToolsListing } from "../../protocol/events";
import { LIMITS } from "../limits";
import type { RoundState, ToolListing, TurnState } from "../state";

/** What agents' tool servers have: listed once in a turn before an agent is called, and again when it has changed. */

/** Whether each of the agent's servers has said in this turn what it has, or why it does not. */
export const isListed = (turn: TurnState, agent: number): boolean =>
  (turn.rules.agents[agent]?.tool_servers ?? []).every(
    (server) => find(turn, agent, server) !== undefined,
  );

/** What the agent's servers have for it, in the order of its config. */
export const listingsOf = (turn: TurnState, agent: number): ToolListing[] =>
  (turn.rules.agents[agent]?.tool_servers ?? []).flatMap(
    (server) => find(turn, agent, server) ?? [],
  );

/** The agent's tools from all its servers. */
export const listedTools = (turn: TurnState, agent: number): ListedTool[] =>
  listingsOf(turn, agent).flatMap(({ tools }) => tools);

/** Whether the round's next call must wait for what servers have; a verdict and personas are given without tools. */
export const waitsForTools = (turn: TurnState, agent: number, { purpose }: RoundState): boolean =>
  (purpose === "coordination" || purpose === "presentation") && !isListed(turn, agent);

/** Whether a server's word changes what the agent has, or is the first in the turn; after a number of times none does. */
export function isNews(turn: TurnState, agent: number, { server, tools }: ToolsListing): boolean {
  if (!turn.rules.agents[agent]?.tool_servers?.includes(server)) return false;
  const known = find(turn, agent, server);
  return !known || (known.times < LIMITS.listingsPerServer && !isSame(known.tools, tools));
}

/** All listings of the turn after this one. */
export function listedNow(turn: TurnState, event: EventOf<"tools.listed">): ToolListing[] {
  const agent = turn.rules.agents.findIndex(({ id }) => id === event.agent);
  const { server, tools } = event;
  const times = (find(turn, agent, server)?.times ?? 0) + 1;
  const others = (turn.listings ?? []).filter(
    (listing) => listing.agent !== agent || listing.server !== server,
  );
  return [...others, { agent, server, tools, times }];
}

const find = (
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
