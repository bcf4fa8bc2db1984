import type { EventOf, ToolEvent } from "../../protocol/events";
import { toolEffectId } from "../effects";
import { indexOf, type ToolState, type TurnState } from "../state";
import { removeInFlight, updateRound } from "../update";
import { withListing } from "./tool-listings";
import { countForwarded } from "./tool-notifications";

/** Folds events about the agents' own tools and the listings of tool servers. */
export function evolveTool(turn: TurnState, event: ToolEvent | EventOf<"tools.listed">): TurnState {
  switch (event.type) {
    case "tools.listed":
      return { ...turn, listings: withListing(turn, event) };
    case "tool.started":
      return toolStarted(turn, event);
    case "tool.progressed":
    case "tool.input_required":
      return updateRound(turn, indexOf(turn, event.agent), (round) => ({
        ...round,
        tools: round.tools.map((tool) =>
          tool.id === event.tool_call ? { ...tool, forwarded: countForwarded(tool, event) } : tool,
        ),
      }));
    case "tool.completed":
    case "tool.unknown":
      return toolSettled(turn, event);
    case "tool.interrupted":
      return toolInterrupted(turn, event);
  }
}

function effectIdOf(turn: TurnState, event: ToolEvent): string {
  return toolEffectId({
    turn: turn.number,
    attempt: event.attempt,
    agent: indexOf(turn, event.agent),
    round: event.round,
    toolCall: event.tool_call,
  });
}

function toolStarted(turn: TurnState, event: EventOf<"tool.started">): TurnState {
  const agent = indexOf(turn, event.agent);
  const id = effectIdOf(turn, event);
  const started = {
    ...turn,
    effects: turn.effects + 1,
    inFlight: { ...turn.inFlight, [id]: { type: "tool_call", agent } as const },
  };
  return updateRound(started, agent, (round) => ({
    ...round,
    tools: markTool(round.tools, event.tool_call, "started"),
  }));
}

function toolInterrupted(turn: TurnState, event: EventOf<"tool.interrupted">): TurnState {
  const toOwed = (tool: ToolState): ToolState => ({
    ...tool,
    status: "owed",
    interruptions: tool.interruptions + 1,
  });
  const ended = removeInFlight(turn, effectIdOf(turn, event));
  return updateRound(ended, indexOf(turn, event.agent), (round) => ({
    ...round,
    tools: round.tools.map((tool) => (tool.id === event.tool_call ? toOwed(tool) : tool)),
  }));
}

/**
 * Marks a tool as settled. It counts as executed if it was started; refused and planned tools were
 * not.
 */
function toolSettled(
  turn: TurnState,
  event: EventOf<"tool.completed" | "tool.unknown">,
): TurnState {
  const ended = removeInFlight(turn, effectIdOf(turn, event));
  return updateRound(ended, indexOf(turn, event.agent), (round) => {
    const wasExecuted = round.tools.some(
      ({ id: toolCall, status }) => toolCall === event.tool_call && status === "started",
    );
    const tools = markTool(round.tools, event.tool_call, "settled");
    const areAllSettled = tools.every(({ status }) => status === "settled");
    return {
      ...round,
      tools: areAllSettled ? [] : tools,
      status: areAllSettled ? "calling" : round.status,
      executed:
        wasExecuted && !round.executed.includes(event.name)
          ? [...round.executed, event.name]
          : round.executed,
    };
  });
}

function markTool(
  tools: readonly ToolState[],
  id: string,
  status: ToolState["status"],
): ToolState[] {
  return tools.map((tool) => (tool.id === id ? { ...tool, status } : tool));
}
