import type { CallEvent, EventOf, Usage } from "../../protocol/events";
import { chargedCost } from "../../protocol/cost";
import { type CostFields, costOfFields } from "../../protocol/cost";
import { addUsage, measuresLength, totalTokens } from "../../protocol/usage";
import { isFinal } from "./compaction";
import { isResearch } from "../budget/hosted-tools";
import { asksForDecision } from "../attempt/round-limits";
import {
  type AgentState,
  agentAt,
  type CallState,
  type FailedTries,
  type InFlight,
  indexOf,
  type ToolState,
  type TurnState,
} from "../state";
import { countProbe } from "./unreachable";
import { removeInFlight, updateAgent, updateCall, updateRound } from "../update";

/** Folds events about model calls: the calls in flight, the charges, and the state of the round. */
export function evolveCall(
  turn: TurnState,
  event: CallEvent | EventOf<"conversation.compacted">,
): TurnState {
  const index = indexOf(turn, event.agent);
  switch (event.type) {
    case "call.started":
      return callStarted(turn, index, event);
    case "call.deferred":
      return updateCall(turn, index, (call) => ({ ...call, deferred: event.input_tokens }));
    case "call.waiting":
      return updateCall(turn, index, (call) => ({ ...call, waiting: event.input_tokens }));
    case "call.completed":
      return callCompleted(turn, index, event);
    case "call.failed":
      return callFailed(turn, index, event);
    case "conversation.compacted":
      return updateRound(turn, index, (round) => ({
        ...round,
        contextTokens: Math.max(0, round.contextTokens - event.tokens),
      }));
  }
}

function callStarted(turn: TurnState, agent: number, event: EventOf<"call.started">): TurnState {
  const reserved = costOfFields(event.reserved);
  const entry: InFlight = {
    type: "model_call",
    agent,
    reservedTokens: event.reserved.tokens,
    reservedUsd: reserved.usd,
    ...(!reserved.isComplete && { unpriced: true }),
    ...(isResearch(event) && { research: true }),
    ...(event.compacts && { compacts: true }),
    ...(asksForDecision(event) && { decides: true }),
  };
  const started = {
    ...turn,
    effects: turn.effects + 1,
    inFlight: { ...turn.inFlight, [event.call]: entry },
  };
  const withCalledAgent = updateAgent(started, agent, (state) => ({ ...state, called: true }));
  return updateCall(withCalledAgent, agent, ({ waiting: _, ...call }) => ({
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
  const charged = charge(removeInFlight(turn, event.call), agent, { ...event, tokens });
  const tools: ToolState[] = event.tools.map(({ tool_call, name }) => ({
    id: tool_call,
    name,
    status: "owed",
    interruptions: 0,
  }));
  const withCount = updateAgent(charged, agent, ({ failing: _, ...state }) => ({
    ...state,
    completedCalls: state.completedCalls + 1,
  }));
  return updateRound(withCount, agent, (round) => ({
    ...round,
    status: tools.length > 0 ? "tools" : "calling",
    calls: round.calls + 1,
    call: { ...nextCall(round.call), ...(compacts && { compacted: true }) },
    tools,
    decisions: event.decisions,
    ...(decides && { decisionCalls: (round.decisionCalls ?? 0) + 1 }),
    // A summary is not part of the conversation that it summarizes.
    contextTokens: compacts || !measuresLength(event.usage) ? round.contextTokens : tokens,
  }));
}

function callFailed(turn: TurnState, agent: number, event: EventOf<"call.failed">): TurnState {
  const charged = charge(removeInFlight(turn, event.call), agent, event);
  const interrupted = event.class === "interrupted";
  const compacts = isCompaction(turn, event.call);
  const counted = countsAsFailing(turn, agent, event)
    ? updateAgent(charged, agent, (state) => ({ ...state, failing: failedAgain(state, event) }))
    : charged;
  return updateCall(counted, agent, ({ unreachable, providerWaitsUntil: _, ...call }) => ({
    ...call,
    ...countProbe(unreachable, event),
    ...waitOfProvider(event),
    inFlight: false,
    tries: call.tries + (interrupted ? 0 : 1),
    interruptions: call.interruptions + (interrupted ? 1 : 0),
    notBefore: event.retry_at ?? call.notBefore,
    ...(event.retry_at !== null && lengthAfterFailure(event, compacts)),
  }));
}

/** Whether a failed try makes its agent a failing member. Tries that a restart cut do not. */
const countsAsFailing = (turn: TurnState, agent: number, event: EventOf<"call.failed">): boolean =>
  turn.rules.failing_member_grace_ms !== undefined &&
  agentAt(turn.attempt, agent).round?.purpose === "coordination" &&
  event.class !== "interrupted" &&
  event.class !== "cancelled";

const failedAgain = (
  { failing }: AgentState,
  { at, code, message }: EventOf<"call.failed">,
): FailedTries => ({
  firstAt: failing?.firstAt ?? at,
  lastAt: at,
  problem: { code, message },
});

const waitOfProvider = ({
  at,
  retry_at,
  retry_after_ms,
}: EventOf<"call.failed">): Pick<CallState, "providerWaitsUntil"> =>
  retry_at === null || retry_after_ms === undefined
    ? {}
    : { providerWaitsUntil: at + retry_after_ms };

/** The fields about the conversation's length after a failed try that will be repeated. */
function lengthAfterFailure(
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

type Charge = CostFields & { tokens: number; usage: Usage | null; unreported?: true | undefined };

function charge(turn: TurnState, agent: number, charged: Charge): TurnState {
  const { usage, tokens, unreported } = charged;
  const { usd, isComplete } = chargedCost(turn.rules.agents[agent], charged);
  return {
    ...turn,
    spentTokens: turn.spentTokens + tokens,
    spentUsd: turn.spentUsd + usd,
    ...(!isComplete && { unpriced: true }),
    usage: usage && !unreported ? addUsage(turn.usage, usage) : turn.usage,
  };
}
