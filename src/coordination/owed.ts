import { nextCallAt } from "./attempt/failing-members";
import { reserve } from "./budget/budget";
import {
  callId,
  type Effect,
  listingEffectId,
  type ModelCallEffect,
  type ToolCallEffect,
  toolEffectId,
} from "./effects";
import { LIMITS } from "./limits";
import {
  type AgentState,
  agentAt,
  type RoundState,
  runningTurn,
  type SessionState,
  type ToolState,
  type TurnState,
} from "./state";
import { awaitsListings } from "./tool/tool-listings";

/**
 * The effects that must be started in this state: model calls and tool calls. Before an agent's
 * first call, the listings of its tool servers are owed instead. A call that was deferred for lack
 * of budget is owed again as soon as the budget allows it.
 */
export function owed(state: SessionState): Effect[] {
  const turn = runningTurn(state);
  if (!turn) return [];
  return turn.attempt.agents.flatMap((agent) =>
    agent.round ? effectsOf(turn, agent, agent.round) : [],
  );
}

/** Ids of effects that are started and not settled. Other running effects must be aborted. */
export function inFlight(state: SessionState): string[] {
  return Object.keys(runningTurn(state)?.inFlight ?? {});
}

/** The model call with this id; `null` if it is not in flight. */
export function callInFlight(state: SessionState, id: string): ModelCallEffect | null {
  const turn = runningTurn(state);
  const entry = turn?.inFlight[id];
  const round =
    turn && entry?.type === "model_call" ? agentAt(turn.attempt, entry.agent).round : null;
  if (!entry || !round) return null;
  return {
    type: "model_call",
    id,
    agent: entry.agent,
    round: round.number,
    purpose: round.purpose,
    notBefore: round.call.notBefore,
  };
}

/** The tool call with this effect id, and its agent's index; `null` if it is not in flight. */
export function toolInFlight(
  turn: TurnState,
  id: string,
): { index: number; tool: ToolState } | null {
  const entry = turn.inFlight[id];
  if (entry?.type !== "tool_call") return null;
  const { agent: index } = entry;
  const { round } = agentAt(turn.attempt, index);
  if (!round) return null;
  const place = {
    turn: turn.number,
    attempt: turn.attempt.number,
    agent: index,
    round: round.number,
  };
  const tool = round.tools.find(({ id: toolCall }) => toolEffectId({ ...place, toolCall }) === id);
  return tool ? { index, tool } : null;
}

/**
 * Whether the agent's call waits for budget that is not available now. This includes calls that
 * wait for rate limits.
 */
export function isUnaffordable(turn: TurnState, agent: AgentState): boolean {
  const { round } = agent;
  const rules = turn.rules.agents[agent.index];
  const inputTokens = round?.call.deferred ?? round?.call.waiting;
  if (!rules || round?.status !== "calling" || inputTokens === undefined || round.call.inFlight)
    return false;
  return (
    reserve(turn, {
      agent: rules,
      purpose: round.purpose,
      usable: [],
      inputTokens,
      dueCalls: 1,
    }) === null
  );
}

function effectsOf(turn: TurnState, agent: AgentState, round: RoundState): Effect[] {
  if (round.status === "tools") return toolEffects(turn, agent, round);
  if (round.status !== "calling" || round.call.inFlight || isUnaffordable(turn, agent)) return [];
  if (awaitsListings(turn, agent.index, round)) {
    return [
      { type: "tool_listing", id: listingEffectId(turn.number, agent.index), agent: agent.index },
    ];
  }
  return [modelCall(turn, agent, round)];
}

function modelCall(turn: TurnState, agent: AgentState, round: RoundState): ModelCallEffect {
  const { call } = round;
  const place = {
    turn: turn.number,
    attempt: turn.attempt.number,
    agent: agent.index,
    round: round.number,
  };
  return {
    type: "model_call",
    id: callId({ ...place, call: call.number, sent: call.sent }),
    agent: agent.index,
    round: round.number,
    purpose: round.purpose,
    notBefore: nextCallAt(turn, agent),
  };
}

function toolEffects(turn: TurnState, agent: AgentState, round: RoundState): ToolCallEffect[] {
  const runningCount = round.tools.filter(({ status }) => status === "started").length;
  const next = round.tools
    .filter(({ status }) => status === "owed")
    .slice(0, Math.max(0, LIMITS.toolsAtOnce - runningCount));
  return next.map(({ id, name }) => ({
    type: "tool_call",
    id: toolEffectId({
      turn: turn.number,
      attempt: turn.attempt.number,
      agent: agent.index,
      round: round.number,
      toolCall: id,
    }),
    agent: agent.index,
    round: round.number,
    toolCall: id,
    name,
  }));
}
