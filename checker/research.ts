import type { EventOf } from "../src/protocol/events";
import { agentOf, type Board, type BoardAgent } from "./board";
import { type Invariant, type NumberedEvent, unless } from "./types";

/**
 * If hosted tools cannot be combined with functions, a coordination round starts with a research
 * call: a call that has only hosted tools. It makes no decision and causes no nudge. No other call
 * of such an agent has hosted tools and functions.
 */
export const research: Invariant = {
  id: "research",
  watch: () => ({
    see: ({ event, board, next }) => {
      if (event.type === "call.started") return startViolations(event, board);
      if (event.type === "call.completed" && isResearch(board.openCalls.get(event.call)))
        return endViolations(event, next);
      return [];
    },
  }),
};

/** Whether a call is a research call: a call of a coordination round that offers no decisions. */
export const isResearch = (event: EventOf<"call.started"> | undefined): boolean =>
  event?.purpose === "coordination" && event.offers.length === 0 && !event.compacts;

function startViolations(event: EventOf<"call.started">, board: Board): string[] {
  const agent = agentOf(board, event.agent);
  if (!agent) return [];
  const hasHostedTools = (event.hosted_tools ?? []).length > 0;
  if (isResearch(event)) {
    return [
      ...unless(
        agent.rules.hosted_alone === true,
        "research by an agent whose hosted tools run beside functions",
      ),
      ...unless(agent.round?.completedCalls === 0, "research after the first reply of a round"),
      ...unless(hasHostedTools, "research without a hosted tool"),
      ...unless(!event.forced, "research that is forced to a decision"),
    ];
  }
  return unless(
    !(agent.rules.hosted_alone && hasHostedTools) || !hasFunctions(event, agent),
    "hosted tools beside functions where they do not run",
  );
}

const hasFunctions = ({ purpose }: EventOf<"call.started">, agent: BoardAgent): boolean =>
  purpose !== "presentation" ||
  agent.rules.tools.length + (agent.rules.tool_servers ?? []).length > 0;

function endViolations(
  event: EventOf<"call.completed">,
  next: NumberedEvent | undefined,
): string[] {
  const nextType = next && "agent" in next && next.agent === event.agent ? next.type : null;
  return [
    ...unless(
      event.tools.length === 0 && event.decisions.length === 0,
      "research called functions that were not offered",
    ),
    ...unless(
      nextType === null || ALLOWED_NEXT.includes(nextType),
      `research is followed by ${nextType}`,
    ),
  ];
}

/**
 * The agent's events that may follow a research call: newer answers, the next call, the failure of
 * the round after a withheld reply, or an event that ends the round.
 */
const ALLOWED_NEXT: readonly string[] = [
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
