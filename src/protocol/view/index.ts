import type { EventOf, EventType, Usage, WireEvent } from "../events";
import type { AgentRules, TeamRules } from "../team";
import { rulesOfTurn } from "../turn-team";
import { addUsage, NO_USAGE, totalTokens } from "../usage";
import { chargedCost, type Cost, knownUsd } from "../cost";
import { applyWork, newAgent, type WorkEvent } from "./agent";
import { type AttemptEvent, agentById, applyAttempt, stoppedStatus, retire } from "./attempt";
import { applyHistory, startedHistory } from "./history";
import { appendDelta } from "./stream";
import type { AgentView, SessionView, TurnView } from "./types";

export type * from "./types";
export { citationsOf, tallyOf } from "./attempt";

/**
 * An empty view, to which `apply` adds the events of a session. `apply` is the only reducer from
 * the log to the view. The API, the command line, the page and tests share it.
 *
 * `apply` changes the view in place, so the cost of an event does not depend on the length of the
 * session. To keep a state of the view, copy it with `structuredClone`.
 */
export const emptyView = (): SessionView => ({
  sessionId: "",
  lastSequence: 0,
  createdAt: null,
  updatedAt: 0,
  rules: null,
  head: null,
  turns: [],
});

/**
 * Folds one event into `view` and returns the same `view`. Apply events in order. An event that is
 * already in the view has no effect, so repeated delivery is safe. Deltas and the events of earlier
 * turns may be missing.
 */
export function apply(view: SessionView, event: WireEvent): SessionView {
  if (event.sequence_number <= view.lastSequence) return view;
  view.sessionId = event.session_id;
  view.lastSequence = event.sequence_number;
  view.updatedAt = event.at;
  if (event.type === "session.created") {
    view.createdAt = event.at;
    view.rules = event.rules;
  } else if (event.type === "head.moved") {
    view.head = event.head;
  } else if (event.type === "turn.started") {
    view.head = event.kind === "compact" ? event.parent_turn : event.turn;
    view.turns.push(newTurn(view, event));
  } else {
    const turn = view.turns.findLast(({ number }) => number === event.turn);
    if (turn) applyToTurn(turn, event, view);
  }
  return view;
}

/** The turn with this number; without a number, the latest. */
export const turnOf = (view: SessionView, number?: number): TurnView | undefined =>
  number === undefined ? view.turns.at(-1) : view.turns.findLast((turn) => turn.number === number);

type TurnEvent = EventOf<Exclude<EventType, "session.created" | "head.moved" | "turn.started">>;

function applyToTurn(turn: TurnView, event: TurnEvent, view: SessionView): void {
  switch (event.type) {
    case "stream.delta":
      for (const item of event.items) appendDelta(agentIn(turn, item.agent, event.at), item);
      return;
    case "turn.completed":
    case "turn.failed":
    case "turn.cancelled":
      turnEnded(turn, event);
      return;
    case "history.summarised":
    case "history.cut":
      historyEnded(turn, event);
      return;
    case "attempt.started":
    case "personas.assigned":
    case "answer.submitted":
    case "votes.cleared":
    case "vote.cast":
    case "attempt.settled":
    case "citations.added":
    case "presentation.completed":
    case "attempt.restarted":
      applyAttemptEvent(turn, event);
      return;
    case "round.started":
    case "round.failed":
    case "round.nudged":
    case "call.started":
    case "call.deferred":
    case "call.waiting":
    case "call.completed":
    case "call.failed":
    case "tool.started":
    case "tool.progressed":
    case "tool.input_required":
    case "tool.completed":
    case "tool.interrupted":
    case "tool.unknown":
    case "hosted_tool.completed":
    case "answer.refused":
    case "vote.stale":
    case "vote.refused":
    case "answers.injected":
    case "agent.failed":
    case "agent.abstained":
    case "presentation.started":
      applyAgentEvent(turn, event, view);
      return;
    case "files.accessed":
    case "tools.listed":
    case "conversation.compacted":
      return; // not part of the view
    default:
      event satisfies never; // an unknown type of a later version has no effect
  }
}

/** The wait for a summary has ended, and its author starts its own work. */
function historyEnded(turn: TurnView, event: EventOf<"history.summarised" | "history.cut">): void {
  agentIn(turn, event.agent, event.at).status = "waiting";
  if (turn.history) applyHistory(turn.history, event);
}

function applyAttemptEvent(turn: TurnView, event: AttemptEvent): void {
  if ("agent" in event) agentIn(turn, event.agent, event.at);
  applyAttempt(turn, event);
  advancePhase(turn);
}

function applyAgentEvent(turn: TurnView, event: WorkEvent, view: SessionView): void {
  const agent = agentIn(turn, event.agent, event.at);
  applyWork(agent, event);
  if (event.type === "call.completed" || event.type === "call.failed") {
    addCharge(turn, agent, chargeOf(event, rulesOf(turn.rules ?? view.rules, event.agent)));
  }
  if (event.type === "round.started" && event.labels.length > 0) beginVoting(turn);
  if (event.type === "presentation.started") turn.phase = "presentation";
  if (event.type === "agent.failed" || event.type === "agent.abstained") advancePhase(turn);
}

/**
 * Begins voting if every remaining agent has answered. If an agent is shown answers earlier, its
 * `round.started` has already begun voting.
 */
function advancePhase(turn: TurnView): void {
  const remaining = turn.agents.filter(({ out }) => out === null);
  if (remaining.length > 0 && remaining.every(({ answers }) => answers > 0)) beginVoting(turn);
}

function beginVoting(turn: TurnView): void {
  if (turn.phase === "initial_answer") turn.phase = "enforcement";
}

/** The agents are in the order of the config, or in the order of `aliases` if it is unknown. */
function newTurn(view: SessionView, event: EventOf<"turn.started">): TurnView {
  const aliases = new Map(Object.entries(event.aliases));
  const team = event.rules ?? view.rules;
  const rules = team && rulesOfTurn(team, event);
  const ids = rules?.agents.map(({ id }) => id) ?? [...aliases.keys()];
  const agents = ids.map((id) => newAgent(id, aliases.get(id) ?? "", event.at));
  for (const agent of agents) Object.assign(agent, modelOf(rules, agent.id));
  return {
    number: event.turn,
    parentTurn: event.parent_turn,
    ...(event.kind && { kind: event.kind }),
    question: event.question,
    ...(event.history && { history: startedHistory(event.history) }),
    ...(event.attachments && { attachments: event.attachments }),
    ...(rules !== view.rules && rules && { rules }),
    ...(event.overrides && { overrides: event.overrides }),
    budget: event.budget,
    startedAt: event.at,
    deadlineAt: event.deadline_at,
    endedAt: null,
    status: "running",
    phase: "initial_answer",
    agents,
    attempts: [],
    winner: null,
    final: null,
    finishReason: null,
    failure: null,
    partial: null,
    usage: NO_USAGE,
    reservedTokens: 0,
    costUsd: 0,
    isCostWhole: true,
    unreportedUsd: 0,
  };
}

const rulesOf = (team: TeamRules | null, id: string): AgentRules | undefined =>
  team?.agents.find((agent) => agent.id === id);

function modelOf(
  team: TeamRules | null,
  id: string,
): { provider: string; model: string } | undefined {
  const rules = rulesOf(team, id);
  return rules && { provider: rules.provider, model: rules.model };
}

/**
 * Finds an agent, or appends an agent that `turn.started` does not name, so that an incomplete log
 * can be shown.
 */
function agentIn(turn: TurnView, id: string, at: number): AgentView {
  const known = agentById(turn, id);
  if (known) return known;
  const agent = newAgent(id, "", at);
  turn.agents.push(agent);
  return agent;
}

type EndEvent = EventOf<"turn.completed" | "turn.failed" | "turn.cancelled">;

/**
 * Replaces the turn's usage and cost by those of the terminal event, which include the calls in
 * flight. The agents' sums get the reservations of these calls.
 */
function turnEnded(turn: TurnView, event: EndEvent): void {
  for (const agent of turn.agents)
    if (agent.call) addCharge(turn, agent, { ...agent.call.reserved, usage: null });
  turn.endedAt = event.at;
  turn.phase = "done";
  turn.usage = { ...event.usage };
  turn.costUsd = knownUsd(event);
  if (event.cost_usd === null) turn.isCostWhole = false;
  const failedIds = new Set(
    event.type === "turn.failed" ? event.agents.map(({ agent }) => agent) : [],
  );
  const attempt = turn.attempts.at(-1);
  for (const agent of turn.agents) {
    if (event.type === "turn.completed") retire(agent, "completed");
    else retire(agent, failedIds.has(agent.id) ? "error" : stoppedStatus(attempt, agent));
  }
  switch (event.type) {
    case "turn.completed":
      turn.status = "completed";
      turn.winner = event.winner;
      turn.finishReason = event.finish_reason;
      turn.final = {
        agent: event.winner,
        attempt: event.attempt,
        label: event.label,
        text: event.answer,
      };
      return;
    case "turn.failed":
      turn.status = "failed";
      turn.failure = { code: event.code, message: event.message, agents: event.agents };
      return;
    case "turn.cancelled":
      turn.status = "cancelled";
      turn.finishReason = "cancelled";
      turn.partial = event.partial;
      return;
    default:
      event satisfies never;
  }
}

/**
 * Charge of one call. `usage`: `null` if the provider reported none; `tokens` is then the number of
 * reserved tokens.
 */
type Charge = Cost & { tokens: number; usage: Usage | null };

/** Charge of the call that `event` ends. `agent`: the rules of the call's agent, if known. */
function chargeOf(
  event: EventOf<"call.completed" | "call.failed">,
  agent: AgentRules | undefined,
): Charge {
  const tokens = event.type === "call.failed" ? event.tokens : totalTokens(event.usage);
  const usage = event.type === "call.completed" && event.unreported ? null : event.usage;
  return { ...chargedCost(agent, { ...event, tokens }), tokens, usage };
}

/** Adds a charge to the agent and to the turn. So the sum over the agents equals the turn's sum. */
function addCharge(
  turn: TurnView,
  agent: AgentView,
  { usd, isComplete, tokens, usage }: Charge,
): void {
  for (const payer of [turn, agent]) {
    payer.costUsd += usd;
    payer.isCostWhole &&= isComplete;
    if (!usage) payer.reservedTokens += tokens;
  }
  if (usage) {
    turn.usage = addUsage(turn.usage, usage);
    agent.reportedTokens += totalTokens(usage);
  } else {
    turn.unreportedUsd += usd;
    if (!isComplete) turn.isUnreportedUnpriced = true;
  }
}
