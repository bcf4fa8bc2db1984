import type { EventOf } from "../src/protocol/events";
import { agentOf, type Board } from "./board";
import { type Invariant, unless } from "./types";

/** Maximum number of logged listings of one server for one agent in a turn. */
const MAX_LISTINGS = 8;

/**
 * A listing belongs to a server of the agent, and differs from the agent's previous listing of this
 * server in the turn. The number of listings is limited.
 */
export const listings: Invariant = {
  id: "listings",
  watch: () => ({
    see: ({ event, board }) => {
      if (event.type !== "tools.listed") return [];
      const earlier = board.listings.filter(
        ({ agent, server }) => agent === event.agent && server === event.server,
      );
      const servers = agentOf(board, event.agent)?.rules.tool_servers ?? [];
      return [
        ...unless(
          servers.includes(event.server),
          `${event.server} is not a tool server of ${event.agent}`,
        ),
        ...unless(
          isChanged(event, earlier.at(-1)),
          `${event.agent} received the same listing of ${event.server} again`,
        ),
        ...unless(
          earlier.length < MAX_LISTINGS,
          `${event.agent} received ${earlier.length + 1} listings of ${event.server}`,
        ),
      ];
    },
  }),
};

type Listing = Board["listings"][number];

const isChanged = (event: EventOf<"tools.listed">, previous: Listing | undefined): boolean =>
  previous === undefined || JSON.stringify(event.tools) !== JSON.stringify(previous.tools);
