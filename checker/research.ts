import type { EventOf } from "../src/protocol/events";
import { agentOf, type Board, type BoardAgent } from "./board";
import { type Invariant, type NumberedEvent, unless } from "./types";

/**
 * If hosted tools cannot be combined with functions, a coordination round starts with a call that
 * has only hosted tools. It decides nothing and causes no nudge, and no other call has both kinds.
 */
export const research: Invariant = {
  id: "research",
  watch: () => ({
    see: ({ event, board, next }) => {
      if (event.type === "call.started") return started(event, board);
      if (event.type === "call.completed" && isResearch(board.openCalls.get(event.call)))
        return completed(event, next);
      return [];
    },
  }),
};

/** A call of a coordinating agent without decisions to make. */
export const isResearch = (event: EventOf<"call.started"> | undefined): boolean =>
  event?.purpose === "coordination" && event.offers.length === 0 && !event.compacts;

function started(event: EventOf<"call.started">, board: Board): string[] {
  const agent = agentOf(board, event.agent);
  if (!agent) return [];
  const hosted = (event.hosted_tools ?? []).length > 0;
  if (isResearch(event)) {
    return [
      ...unless(
        agent.rules.hosted_alone === true,
        "research by an agent whose hosted tools run beside functions",
      ),
      ...unless(agent.round?.completed === 0, "research after the first reply of a round"),
      ...unless(hosted, "research without a hosted tool"),
      ...unless(!event.forced, "research that is forced to a decision"),
    ];
  }
  return unless(
    !(agent.rules.hosted_alone && hosted) || !hasFunctions(event, agent),
    "hosted tools beside functions where they do not run",
  );
}

const hasFunctions = ({ purpose }: EventOf<"call.started">, agent: BoardAgent): boolean =>
  purpose !== "presentation" ||
  agent.rules.tools.length + (agent.rules.tool_servers ?? []).length > 0;

function completed(event: EventOf<"call.completed">, next: NumberedEvent | undefined): string[] {
  const own = next && "agent" in next && next.agent === event.agent ? next.type : null;
  return [
    ...unless(
      event.tools.length === 0 && event.decisions.length === 0,
      "research called functions that were not offered",
    ),
    ...unless(own === null || AFTER.includes(own), `research is followed by ${own}`),
  ];
}

/**
 * Newer answers, the next call, the lost round of a withheld reply, or any event that ended the
 * round from outside.
 */
const AFTER: readonly string[] = [
  ...[
    "answers.injected",
    "round.started",
    "call.started",
    "call.deferred",
    "call.waiting",
    "round.failed",
  ],
  ...["agent.failed", "agent.abstained", "attempt.settled", "answer.submitted"],
];
