import type { EventOf, EventType, SessionEvent } from "../src/protocol/events";
import type { AgentRules } from "../src/protocol/team";
import { agentOf, answerOf, type Board, type BoardAgent, type BoardRound, newAgent } from "./board";
import { effectiveRules } from "./turn-team";
import { chargeOf, NOTHING, plus } from "./price";
import { extendGrace } from "./waiting";

/** Applies an event to the board. Accepts invalid events; the invariants report them. */
export function applyEvent(board: Board, event: SessionEvent): void {
  switch (event.type) {
    case "session.created":
      board.sessionRules = event.rules;
      board.rules = event.rules;
      return;
    case "turn.started":
      return beginTurn(board, event);
    case "head.moved":
      board.head = event.head;
      return;
    case "attempt.started":
      return beginAttempt(board, event);
    case "attempt.settled":
      board.settled = event;
      board.endings.set(event.attempt, event);
      for (const agent of board.agents) agent.round = null;
      return;
    case "personas.assigned":
      board.workingSince = event.at;
      for (const agent of board.agents) agent.round = null;
      return;
    case "history.summarised":
    case "history.cut":
      return endSummary(board, event);
    case "votes.cleared":
      for (const agent of board.agents) agent.vote = null;
      return;
    case "turn.completed":
    case "turn.failed":
    case "turn.cancelled":
      board.endedTurn = event.turn;
      Object.assign(board.past.get(event.turn) ?? {}, { end: event.type });
      return;
    case "stream.delta":
    case "attempt.restarted":
      return;
    default: {
      const agent = agentOf(board, event.agent);
      if (agent) applyAgentEvent(board, agent, event);
    }
  }
}

/** The wait for a summary is over. The agents start, unless personas are written first. */
function endSummary(board: Board, event: EventOf<"history.summarised" | "history.cut">): void {
  board.workingSince = board.rules?.personas ? null : event.at;
  for (const agent of board.agents) agent.round = null;
  board.plannedSummary = null;
  if (event.type === "history.summarised") board.summaries.push(event);
}

function beginTurn(board: Board, event: EventOf<"turn.started">): void {
  board.turn = event;
  board.past.set(event.turn, { parent: event.parent_turn, kind: event.kind, end: null });
  board.rules = effectiveRules(board, event);
  board.head = event.kind === "compact" ? event.parent_turn : event.turn;
  board.plannedSummary = event.history?.summarises ?? null;
  board.endedTurn = null;
  board.attempt = 0;
  board.finals = [];
  board.endings = new Map();
  board.spent = NOTHING;
  board.openCalls = new Map();
  board.openTools = [];
  board.effects = 0;
  board.listings = [];
}

/** The rules of the agents in this turn: grants of its request give workspaces and tools. */
function rulesInTurn({ rules, turn }: Board): AgentRules[] {
  const granted = new Map(turn?.granted_workspaces?.map(({ agent, tools }) => [agent, tools]));
  return (rules?.agents ?? []).map((agent) => {
    const tools = granted.get(agent.id);
    return tools ? { ...agent, workspace: true, tools } : agent;
  });
}

function beginAttempt(board: Board, event: EventOf<"attempt.started">): void {
  board.attempt = event.attempt;
  board.attemptStartedAt = event.at;
  board.workingSince = board.rules?.personas || board.plannedSummary ? null : event.at;
  // Round numbers start at 1 again. Tools that were requested in earlier rounds never run.
  board.openTools = board.openTools.filter(({ status }) => status === "started");
  board.answers = [];
  board.firstAnswerAt = null;
  board.graceEnd = null;
  board.agents = rulesInTurn(board).map(newAgent);
  board.settled = null;
  board.presenting = null;
  board.final = null;
}

/** Event types that name an agent and change its state. */
type AgentEvent = Exclude<
  EventOf<Exclude<EventType, "stream.delta" | "attempt.restarted">>,
  | {
      type:
        | "session.created"
        | "turn.started"
        | "head.moved"
        | "attempt.started"
        | "attempt.settled"
        | "personas.assigned"
        | "history.summarised"
        | "history.cut"
        | "votes.cleared";
    }
  | {
      type: "turn.completed" | "turn.failed" | "turn.cancelled";
    }
>;

function applyAgentEvent(board: Board, agent: BoardAgent, event: AgentEvent): void {
  const { round } = agent;
  switch (event.type) {
    case "round.started":
      agent.round = newRound(agent, event, event.purpose);
      if (event.purpose === "coordination") agent.coordinationRounds += 1;
      return show(board, agent, event.labels);
    case "round.failed":
      agent.round = null;
      agent.consecutiveFailedRounds += 1;
      return;
    case "round.nudged":
      if (round) round.nudges = event.nudge;
      return;
    case "answers.injected":
      if (round) round.hasVoted = false;
      if (round && event.via === "tool_result") round.toolResultInjections += 1;
      if (round && event.via === "reopened")
        Object.assign(round, { startedAt: event.at, decisionOnlyCalls: [] });
      return show(board, agent, event.labels);
    case "answer.submitted":
      return addAnswer(board, agent, event);
    case "vote.cast":
      return castVote(agent, event);
    case "agent.failed":
    case "agent.abstained":
      agent.out = event.type === "agent.failed" ? "failed" : "abstained";
      agent.outAt = event.at;
      agent.round = null;
      return;
    case "presentation.started":
      board.presenting = event;
      agent.round = newRound(agent, event, "presentation");
      return;
    case "presentation.completed":
      board.final = event;
      board.finals.push(event);
      agent.round = null;
      return;
    case "answer.refused":
    case "vote.refused":
    case "vote.stale":
    case "hosted_tool.completed":
    case "citations.added":
    case "files.accessed":
    case "conversation.compacted":
    case "tool.progressed":
    case "tool.input_required":
      return;
    case "tools.listed":
      board.listings.push(event);
      return;
    default:
      return applyEffect(board, agent, event);
  }
}

function castVote(agent: BoardAgent, { at, revision, reason }: EventOf<"vote.cast">): void {
  agent.vote = revision;
  agent.decidedAt = at;
  agent.reasonBytes = Buffer.byteLength(reason);
  agent.lastVote = revision;
  agent.consecutiveFailedRounds = 0;
  if (agent.round) agent.round.hasVoted = true;
}

type EffectEvent = Extract<AgentEvent, { type: `call.${string}` | `tool.${string}` }>;

function applyEffect(board: Board, agent: BoardAgent, event: EffectEvent): void {
  const { round } = agent;
  switch (event.type) {
    case "call.started":
      board.effects += 1;
      board.openCalls.set(event.call, event);
      if (round) Object.assign(round, { deferredInputTokens: null, waitingInputTokens: null });
      return;
    case "call.deferred":
      if (round) round.deferredInputTokens = event.input_tokens;
      return;
    case "call.waiting":
      if (round) round.waitingInputTokens = event.input_tokens;
      return;
    case "call.completed": {
      const { limit } = board.openCalls.get(event.call) ?? {};
      if (limit?.calls_left === 0 || limit?.seconds_left === 0)
        round?.decisionOnlyCalls.push(event.call);
      board.openCalls.delete(event.call);
      board.spent = plus(board.spent, chargeOf(event));
      if (round?.purpose === "coordination") agent.completedCalls += 1;
      agent.failing = null;
      const requested = event.tools.map(({ tool_call, name }) => ({
        toolCall: tool_call,
        name,
        status: "asked" as const,
      }));
      board.openTools.push(
        ...requested.map((tool) => ({ ...tool, agent: agent.id, round: event.round })),
      );
      if (round)
        Object.assign(round, {
          completedCalls: round.completedCalls + 1,
          lastCallEnd: event,
          failedTries: 0,
          interruptions: 0,
        });
      return;
    }
    case "call.failed":
      board.openCalls.delete(event.call);
      board.spent = plus(board.spent, chargeOf(event));
      return failTry(agent, event);
    case "tool.started":
      board.effects += 1;
      return setTool(board, event, "started");
    case "tool.interrupted":
      return setTool(board, event, "asked");
    case "tool.completed":
    case "tool.unknown": {
      const ran = board.openTools.some((tool) => isTool(tool, event) && tool.status === "started");
      board.openTools = board.openTools.filter((tool) => !isTool(tool, event));
      if (round && ran && !round.executedTools.includes(event.name))
        round.executedTools.push(event.name);
    }
  }
}

function failTry(agent: BoardAgent, event: EventOf<"call.failed">): void {
  const { round } = agent;
  if (!round) return;
  round.lastCallEnd = event;
  if (event.class === "interrupted") round.interruptions += 1;
  else round.failedTries += 1;
  if (round.purpose === "coordination" && !NO_FAILURE.has(event.class))
    agent.failing = { firstAt: agent.failing?.firstAt ?? event.at, lastAt: event.at };
}

/** A call that a restart or the service itself ended has not failed. */
const NO_FAILURE: ReadonlySet<string> = new Set(["interrupted", "cancelled"]);

/** The fields of an event that identify a tool call. */
type ToolEvent = { agent: string; round: number; tool_call: string };

export const isTool = (
  tool: { agent: string; round: number; toolCall: string },
  event: ToolEvent,
): boolean =>
  tool.agent === event.agent && tool.round === event.round && tool.toolCall === event.tool_call;

function setTool(board: Board, event: ToolEvent, status: "asked" | "started"): void {
  for (const tool of board.openTools) if (isTool(tool, event)) tool.status = status;
}

type RoundStart = { round: number; at: number };

function newRound(
  agent: BoardAgent,
  { round: number, at }: RoundStart,
  purpose: BoardRound["purpose"],
): BoardRound {
  agent.lastRoundNumber = number;
  agent.hasContinued = agent.answers > 0;
  return {
    number,
    purpose,
    completedCalls: 0,
    nudges: 0,
    toolResultInjections: 0,
    hasVoted: false,
    lastCallEnd: null,
    failedTries: 0,
    interruptions: 0,
    deferredInputTokens: null,
    waitingInputTokens: null,
    executedTools: [],
    startedAt: at,
    decisionOnlyCalls: [],
  };
}

function show(board: Board, agent: BoardAgent, labels: readonly string[]): void {
  for (const label of labels) {
    const answer = answerOf(board, label);
    if (answer) agent.shownRevisions.add(answer.revision);
  }
}

function addAnswer(board: Board, agent: BoardAgent, event: EventOf<"answer.submitted">): void {
  const { revision, label, content, snapshot, origin, files } = event;
  const kind = { isPartial: origin === "partial", changedFiles: files === "workspace" };
  agent.decidedAt = event.at;
  board.answers.push({ revision, label, content, snapshot, agent: agent.id, ...kind });
  extendGrace(board, agent, event.at);
  agent.answers += 1;
  agent.newestRevision = revision;
  agent.consecutiveFailedRounds = 0;
  agent.round = null;
}
