import type { CallEvent, EventOf, ToolEvent, Usage } from "../../protocol/events";
import { chargedCost } from "../../protocol/charged-cost";
import { type CostFields, costOfFields } from "../../protocol/cost";
import { addUsage, tellsLength, totalTokens } from "../../protocol/usage";
import { toolEffectId } from "../effects";
import { isFinal } from "./compaction";
import { isResearch } from "../budget/hosted-tools";
import { asksForDecision } from "../attempt/round-limits";
import {
  type AgentState,
  agentAt,
  type CallState,
  type InFlight,
  indexOf,
  type RoundState,
  type ToolState,
  type TurnState,
} from "../state";
import { probesNow } from "./unreachable";
import { toldNow } from "../tool/tool-notifications";

/** Facts about calls and tools: what is in flight, what was spent, what the round owes next. */
export function evolveCall(
  turn: TurnState,
  event: CallEvent | ToolEvent | EventOf<"conversation.compacted">,
): TurnState {
  const index = indexOf(turn, event.agent);
  switch (event.type) {
    case "call.started":
      return callStarted(turn, index, event);
    case "call.deferred":
      return withCall(turn, index, (call) => ({ ...call, deferred: event.input_tokens }));
    case "call.waiting":
      return withCall(turn, index, (call) => ({ ...call, held: event.input_tokens }));
    case "call.completed":
      return callCompleted(turn, index, event);
    case "call.failed":
      return callFailed(turn, index, event);
    case "conversation.compacted":
      return withRound(turn, index, (round) => ({
        ...round,
        contextTokens: Math.max(0, round.contextTokens - event.tokens),
      }));
    case "tool.started":
      return toolStarted(turn, index, event);
    case "tool.progressed":
    case "tool.input_required":
      return withRound(turn, index, (round) => ({
        ...round,
        tools: round.tools.map((tool) =>
          tool.id === event.tool_call ? { ...tool, told: toldNow(tool, event) } : tool,
        ),
      }));
    case "tool.completed":
    case "tool.unknown":
      return toolSettled(turn, index, event);
    case "tool.interrupted":
      return toolInterrupted(turn, index, event);
  }
}

function callStarted(turn: TurnState, agent: number, event: EventOf<"call.started">): TurnState {
  const reserved = costOfFields(event.reserved);
  const entry: InFlight = {
    type: "model_call",
    agent,
    reservedTokens: event.reserved.tokens,
    reservedUsd: reserved.usd,
    ...(!reserved.isWhole && { unpriced: true }),
    ...(isResearch(event) && { research: true }),
    ...(event.compacts && { compacts: true }),
    ...(asksForDecision(event) && { decides: true }),
  };
  const started = {
    ...turn,
    effects: turn.effects + 1,
    inFlight: { ...turn.inFlight, [event.call]: entry },
  };
  const called = withAgent(started, agent, (state) => ({ ...state, called: true }));
  return withCall(called, agent, ({ held: _, ...call }) => ({
    ...call,
    sent: call.sent + 1,
    inFlight: true,
    deferred: null,
  }));
}

function callCompleted(
  turn: TurnState,
  agent: number,
  event: EventOf<"call.completed">,
): TurnState {
  const compacts = isCompaction(turn, event.call);
  const entry = turn.inFlight[event.call];
  const decides = entry?.type === "model_call" && entry.decides === true;
  const tokens = totalTokens(event.usage);
  const charged = charge(settled(turn, event.call), agent, { ...event, tokens });
  const tools: ToolState[] = event.tools.map(({ tool_call, name }) => ({
    id: tool_call,
    name,
    status: "owed",
    interruptions: 0,
  }));
  const counted = withAgent(charged, agent, (state) => ({
    ...state,
    completedCalls: state.completedCalls + 1,
  }));
  return withRound(counted, agent, (round) => ({
    ...round,
    status: tools.length > 0 ? "tools" : "calling",
    calls: round.calls + 1,
    call: { ...nextCall(round.call), ...(compacts && { compacted: true }) },
    tools,
    decisions: event.decisions,
    ...(decides && { decisionCalls: (round.decisionCalls ?? 0) + 1 }),
    // A summary is written beside the conversation.
    contextTokens: compacts || !tellsLength(event.usage) ? round.contextTokens : tokens,
  }));
}

function callFailed(turn: TurnState, agent: number, event: EventOf<"call.failed">): TurnState {
  const charged = charge(settled(turn, event.call), agent, event);
  const interrupted = event.class === "interrupted";
  const compacts = isCompaction(turn, event.call);
  return withCall(charged, agent, ({ unreachable, ...call }) => ({
    ...call,
    ...probesNow(unreachable, event),
    inFlight: false,
    tries: call.tries + (interrupted ? 0 : 1),
    interruptions: call.interruptions + (interrupted ? 1 : 0),
    notBefore: event.retry_at ?? call.notBefore,
    ...(event.retry_at !== null && lengthOf(event, compacts)),
  }));
}

/** What a failure that is not the end says about the length of the conversation. */
function lengthOf(
  event: EventOf<"call.failed">,
  compacts: boolean,
): Pick<CallState, "tooLong" | "compacted"> {
  if (compacts) return isFinal(event.class) ? { compacted: true } : {};
  return event.class === "context_too_long" ? { tooLong: true } : {};
}

function isCompaction(turn: TurnState, call: string): boolean {
  const entry = turn.inFlight[call];
  return entry?.type === "model_call" && entry.compacts === true;
}

function toolStarted(turn: TurnState, agent: number, event: EventOf<"tool.started">): TurnState {
  const id = toolEffectId({
    turn: turn.number,
    attempt: event.attempt,
    agent,
    round: event.round,
    toolCall: event.tool_call,
  });
  const started = {
    ...turn,
    effects: turn.effects + 1,
    inFlight: { ...turn.inFlight, [id]: { type: "tool_call", agent } as const },
  };
  return withRound(started, agent, (round) => ({
    ...round,
    tools: markTool(round.tools, event.tool_call, "started"),
  }));
}

function toolInterrupted(
  turn: TurnState,
  agent: number,
  event: EventOf<"tool.interrupted">,
): TurnState {
  const id = toolEffectId({
    turn: turn.number,
    attempt: event.attempt,
    agent,
    round: event.round,
    toolCall: event.tool_call,
  });
  const again = (tool: ToolState): ToolState => ({
    ...tool,
    status: "owed",
    interruptions: tool.interruptions + 1,
  });
  return withRound(settled(turn, id), agent, (round) => ({
    ...round,
    tools: round.tools.map((tool) => (tool.id === event.tool_call ? again(tool) : tool)),
  }));
}

/** A tool was executed if it was ever started: one that was refused or only planned was not. */
function toolSettled(
  turn: TurnState,
  agent: number,
  event: EventOf<"tool.completed" | "tool.unknown">,
): TurnState {
  const id = toolEffectId({
    turn: turn.number,
    attempt: event.attempt,
    agent,
    round: event.round,
    toolCall: event.tool_call,
  });
  return withRound(settled(turn, id), agent, (round) => {
    const executed = round.tools.some(
      ({ id: toolCall, status }) => toolCall === event.tool_call && status === "started",
    );
    const tools = markTool(round.tools, event.tool_call, "settled");
    const done = tools.every(({ status }) => status === "settled");
    return {
      ...round,
      tools: done ? [] : tools,
      status: done ? "calling" : round.status,
      executed:
        executed && !round.executed.includes(event.name)
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

function nextCall(call: CallState): CallState {
  return {
    number: call.number + 1,
    sent: 0,
    tries: 0,
    interruptions: 0,
    notBefore: 0,
    inFlight: false,
    deferred: null,
  };
}

/** Takes an effect off what is in flight. */
function settled(turn: TurnState, id: string): TurnState {
  const { [id]: _gone, ...inFlight } = turn.inFlight;
  return { ...turn, inFlight };
}

type Charge = CostFields & { tokens: number; usage: Usage | null; unreported?: true | undefined };

function charge(turn: TurnState, agent: number, charged: Charge): TurnState {
  const { usage, tokens, unreported } = charged;
  const { usd, isWhole } = chargedCost(turn.rules.agents[agent], charged);
  return {
    ...turn,
    spentTokens: turn.spentTokens + tokens,
    spentUsd: turn.spentUsd + usd,
    ...(!isWhole && { unpriced: true }),
    usage: usage && !unreported ? addUsage(turn.usage, usage) : turn.usage,
  };
}

function withAgent(
  turn: TurnState,
  index: number,
  change: (agent: AgentState) => AgentState,
): TurnState {
  const agents = turn.attempt.agents.with(index, change(agentAt(turn.attempt, index)));
  return { ...turn, attempt: { ...turn.attempt, agents } };
}

function withRound(
  turn: TurnState,
  index: number,
  change: (round: RoundState) => RoundState,
): TurnState {
  return withAgent(turn, index, (agent) =>
    agent.round ? { ...agent, round: change(agent.round) } : agent,
  );
}

function withCall(
  turn: TurnState,
  index: number,
  change: (call: CallState) => CallState,
): TurnState {
  return withRound(turn, index, (round) => ({ ...round, call: change(round.call) }));
}
