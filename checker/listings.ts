import type { EventOf } from "../src/protocol/events";
import { agentOf, type Board } from "./board";
import { type Invariant, unless } from "./types";

/** Further listings of a server in a turn are not logged. */
const MAX_LISTINGS = 8;

/**
 * Listings belong to the agent's servers, contain something new for the agent in this turn, and are
 * limited in number.
 */
export const listings: Invariant = {
  id: "listings",
  watch: () => ({
    see: ({ event, board }) => {
      if (event.type !== "tools.listed") return [];
      const before = board.listings.filter(
        ({ agent, server }) => agent === event.agent && server === event.server,
      );
      const servers = agentOf(board, event.agent)?.rules.tool_servers ?? [];
      return [
        ...unless(
          servers.includes(event.server),
          `${event.server} is not a tool server of ${event.agent}`,
        ),
        ...unless(
          isChanged(event, before.at(-1)),
          `${event.agent} received the same listing of ${event.server} again`,
        ),
        ...unless(
          before.length < MAX_LISTINGS,
          `${event.agent} received ${before.length + 1} listings of ${event.server}`,
        ),
      ];
    },
  }),
};

type Listing = Board["listings"][number];

const isChanged = (now: EventOf<"tools.listed">, before: Listing | undefined): boolean =>
  before === undefined || JSON.stringify(now.tools) !== JSON.stringify(before.tools);
