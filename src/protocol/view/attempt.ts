import type { EventOf } from "../events";
import type { Citation } from "../hosted-tools";
import { endOf, hasPart } from "./participation";
import { resetAgent } from "./agent";
import type { AgentStatus, AgentView, AttemptView, TurnView } from "./types";

/** Events of an attempt that can concern several agents, such as answers, votes, the settlement. */
export type AttemptEvent = EventOf<
  | "attempt.started"
  | "personas.assigned"
  | "answer.submitted"
  | "votes.cleared"
  | "vote.cast"
  | "attempt.settled"
  | "citations.added"
  | "presentation.completed"
  | "attempt.restarted"
>;

/** Maximum number of sources of one final text. */
const MOST_CITATIONS = 100;

/** Changes `turn`. */
export function applyAttempt(turn: TurnView, event: AttemptEvent): void {
  if (event.type === "attempt.started") {
    attemptStarted(turn, event);
    return;
  }
  const attempt = turn.attempts.findLast(({ number }) => number === event.attempt);
  if (!attempt) return;
  switch (event.type) {
    case "personas.assigned":
      attempt.personas = event.personas;
      return;
    case "answer.submitted":
      answerSubmitted(turn, attempt, event);
      return;
    case "votes.cleared":
      votesCleared(turn, attempt, event);
      return;
    case "vote.cast":
      voteCast(turn, attempt, event);
      return;
    case "attempt.settled":
      attemptSettled(turn, attempt, event);
      return;
    case "citations.added":
      citationsAdded(turn, attempt, event);
      return;
    case "presentation.completed":
      presentationCompleted(turn, attempt, event);
      return;
    case "attempt.restarted":
      attempt.restart = {
        agent: event.agent,
        reason: event.reason,
        instructions: event.instructions,
      };
      return;
    default:
      event satisfies never;
  }
}

/** Number of valid votes by label; for a settled attempt, the tally in the log. */
export function tallyOf(attempt: AttemptView): Record<string, number> {
  if (attempt.settlement) return attempt.settlement.tally;
  const counts = new Map<string, number>();
  for (const { valid, label } of attempt.votes)
    if (valid) counts.set(label, (counts.get(label) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/** Sources of the turn's final text. Empty if the presenter did not write it. */
export function citationsOf({ attempts, final }: TurnView): readonly Citation[] {
  const attempt = attempts.findLast(({ number }) => number === final?.attempt);
  return attempt?.presentation?.source === "presentation" ? attempt.citations : [];
}

/**
 * Status of an agent that was stopped before its work was done: `error` if it had not taken part
 * yet.
 */
export const stoppedStatus = (attempt: AttemptView | undefined, { id }: AgentView): AgentStatus =>
  attempt && hasPart(attempt, id) ? "completed" : "error";

/** Ends an agent's open work. Its decisions stay visible. */
export function retire(agent: AgentView, status: AgentStatus): void {
  agent.call = null;
  agent.retryAt = null;
  agent.tools = [];
  if (isOpen(agent.status)) agent.status = status;
}

const isOpen = (status: AgentStatus): boolean =>
  status === "waiting" || status === "streaming" || status === "restarting";

function attemptStarted(turn: TurnView, event: EventOf<"attempt.started">): void {
  const before = turn.attempts.at(-1);
  if (before) before.agentEnds = turn.agents.map(endOf);
  turn.attempts.push({
    number: event.attempt,
    startedAt: event.at,
    feedback: event.feedback,
    personas: {},
    answers: [],
    votes: [],
    settlement: null,
    presentation: null,
    citations: [],
    restart: null,
  });
  turn.phase = "initial_answer";
  for (const agent of turn.agents) resetAgent(agent, event.at);
}

function answerSubmitted(
  turn: TurnView,
  attempt: AttemptView,
  event: EventOf<"answer.submitted">,
): void {
  const { agent: author, label, revision, content, origin, snapshot, files, left_out, at } = event;
  const ofFiles = { ...(files && { files }), ...(left_out && { left_out }) };
  attempt.answers.push({
    agent: author,
    label,
    revision,
    content,
    origin,
    snapshot,
    ...ofFiles,
    at,
  });
  const agent = agentById(turn, author);
  if (!agent) return;
  agent.answers += 1;
  agent.latestLabel = label;
  agent.leftOut = left_out?.count ?? 0;
  agent.lastActivityAt = at;
  if (agent.out === null) agent.status = "answered";
}

function votesCleared(turn: TurnView, attempt: AttemptView, event: EventOf<"votes.cleared">): void {
  for (const { agent: voter } of event.votes) {
    voidVote(attempt, voter, event.by);
    const agent = agentById(turn, voter);
    if (!agent) continue;
    agent.vote = null;
    if (agent.status === "voted") agent.status = "restarting";
  }
}

function voteCast(turn: TurnView, attempt: AttemptView, event: EventOf<"vote.cast">): void {
  const { agent: voter, label, revision, reason, at } = event;
  voidVote(attempt, voter, null); // an agent has one vote
  attempt.votes.push({ voter, label, revision, reason, at, valid: true, voidedBy: null });
  const agent = agentById(turn, voter);
  if (!agent) return;
  agent.vote = { label, reason };
  agent.lastActivityAt = at;
  if (agent.out === null) agent.status = "voted";
}

function voidVote(attempt: AttemptView, voter: string, by: string | null): void {
  const vote = attempt.votes.findLast((cast) => cast.voter === voter && cast.valid);
  if (!vote) return;
  vote.valid = false;
  vote.voidedBy = by;
}

function attemptSettled(
  turn: TurnView,
  attempt: AttemptView,
  event: EventOf<"attempt.settled">,
): void {
  const { winner, label, tally, tie, ended_by: endedBy } = event;
  attempt.settlement = { winner, label, tally, tie, endedBy };
  turn.winner = winner;
  turn.phase = "presentation";
  const cut = cutAt(turn, attempt, event);
  if (cut.length > 0) attempt.cut = cut;
  for (const agent of turn.agents) retire(agent, settledStatus(attempt, agent, endedBy));
}

/**
 * Ids of agents whose partial answers were taken because coordination ended, and for no other
 * reason. An agent stopped by the budget has a deferred call; otherwise it used up its own calls at
 * that moment.
 */
function cutAt(
  turn: TurnView,
  { answers }: AttemptView,
  { at, ended_by: endedBy }: EventOf<"attempt.settled">,
): string[] {
  const now = answers
    .filter((answer) => answer.origin === "partial" && answer.at === at)
    .map(({ agent }) => agent);
  if (endedBy === "deadline") return now;
  return endedBy === "budget" ? now.filter((id) => agentById(turn, id)?.isPutOff) : [];
}

function settledStatus(attempt: AttemptView, agent: AgentView, endedBy: string): AgentStatus {
  if (endedBy === "deadline") return "timeout";
  return endedBy === "budget" || endedBy === "cancelled"
    ? stoppedStatus(attempt, agent)
    : "completed";
}

function citationsAdded(
  turn: TurnView,
  attempt: AttemptView,
  event: EventOf<"citations.added">,
): void {
  const agent = agentById(turn, event.agent);
  if (!agent) return;
  agent.lastActivityAt = event.at;
  if (agent.call?.id !== event.call || agent.call.purpose !== "presentation") return;
  const known = new Set(attempt.citations.map(({ url }) => url));
  for (const citation of event.citations) {
    if (attempt.citations.length >= MOST_CITATIONS) return;
    if (!known.has(citation.url)) attempt.citations.push(citation);
    known.add(citation.url);
  }
}

function presentationCompleted(
  turn: TurnView,
  attempt: AttemptView,
  event: EventOf<"presentation.completed">,
): void {
  const { agent: presenter, label, content, source, fallback, changed_files, tools } = event;
  const ofCut = changed_files === undefined ? {} : { changed_files };
  attempt.presentation = { agent: presenter, label, content, source, fallback, ...ofCut, tools };
  const agent = agentById(turn, presenter);
  if (!agent) return;
  agent.call = null;
  agent.tools = [];
  agent.lastActivityAt = event.at;
  if (agent.out === null) agent.status = "completed";
}

/** A linear search: teams have at most 64 agents, and an array keeps order and plain data. */
export const agentById = (turn: TurnView, id: string): AgentView | undefined =>
  turn.agents.find((agent) => agent.id === id);
