import type { EventOf } from "../events";
import type { Citation } from "../hosted-tools";
import { endOf, hasPart } from "./participation";
import { resetAgent } from "./agent";
import type { AgentStatus, AgentView, AttemptView, TurnView } from "./types";

/** Events that change the attempt's view, such as answers, votes and the settlement. */
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

/** Maximum number of sources that the view keeps for one final text. */
const MOST_CITATIONS = 100;

/** Folds one event into `turn`, which it changes in place. */
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

/** Number of valid votes by label. For a settled attempt, the log has the tally. */
export function tallyOf(attempt: AttemptView): Record<string, number> {
  if (attempt.settlement) return attempt.settlement.tally;
  const counts = new Map<string, number>();
  for (const { valid, label } of attempt.votes)
    if (valid) counts.set(label, (counts.get(label) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/** Sources of the turn's final text. Empty if the presenter did not write the text. */
export function citationsOf({ attempts, final }: TurnView): readonly Citation[] {
  const attempt = attempts.findLast(({ number }) => number === final?.attempt);
  return attempt?.presentation?.source === "presentation" ? attempt.citations : [];
}

/**
 * Status of an agent that was stopped before it finished: `completed` if it has taken part in the
 * attempt, otherwise `error`.
 */
export const stoppedStatus = (attempt: AttemptView | undefined, { id }: AgentView): AgentStatus =>
  attempt && hasPart(attempt, id) ? "completed" : "error";

/**
 * Ends the call and tools of an agent. `status` replaces the status of unfinished work. An answer
 * or a vote stays visible.
 */
export function retire(agent: AgentView, status: AgentStatus): void {
  agent.call = null;
  agent.retryAt = null;
  agent.tools = [];
  if (isOpen(agent.status)) agent.status = status;
}

const isOpen = (status: AgentStatus): boolean =>
  status === "waiting" || status === "streaming" || status === "restarting";

function attemptStarted(turn: TurnView, event: EventOf<"attempt.started">): void {
  const previous = turn.attempts.at(-1);
  if (previous) previous.agentEnds = turn.agents.map(endOf);
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
  const fileFields = { ...(files && { files }), ...(left_out && { left_out }) };
  attempt.answers.push({
    agent: author,
    label,
    revision,
    content,
    origin,
    snapshot,
    ...fileFields,
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
  voidVote(attempt, voter, null); // the new vote replaces the voter's earlier vote
  attempt.votes.push({ voter, label, revision, reason, at, valid: true, voidedBy: null });
  const agent = agentById(turn, voter);
  if (!agent) return;
  agent.vote = { label, reason };
  agent.lastActivityAt = at;
  if (agent.out === null) agent.status = "voted";
}

/** `label`: the answer that voids the vote; `null` if the voter votes again. */
function voidVote(attempt: AttemptView, voter: string, label: string | null): void {
  const vote = attempt.votes.findLast((cast) => cast.voter === voter && cast.valid);
  if (!vote) return;
  vote.valid = false;
  vote.voidedBy = label;
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
  const cutAgents = cutAgentsOf(turn, attempt, event);
  if (cutAgents.length > 0) attempt.cut = cutAgents;
  for (const agent of turn.agents) retire(agent, settledStatus(attempt, agent, endedBy));
}

/**
 * Ids of the agents that the end of coordination cut off, so that their unfinished text became
 * their answer. Partial answers at the same time can have another reason: the agent used up its
 * calls. If the budget ended coordination, the agents that it cut off have a deferred call.
 */
function cutAgentsOf(
  turn: TurnView,
  { answers }: AttemptView,
  { at, ended_by: endedBy }: EventOf<"attempt.settled">,
): string[] {
  const partialAuthors = answers
    .filter((answer) => answer.origin === "partial" && answer.at === at)
    .map(({ agent }) => agent);
  if (endedBy === "deadline") return partialAuthors;
  if (endedBy !== "budget") return [];
  return partialAuthors.filter((id) => agentById(turn, id)?.isPutOff);
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
  const knownUrls = new Set(attempt.citations.map(({ url }) => url));
  for (const citation of event.citations) {
    if (attempt.citations.length >= MOST_CITATIONS) return;
    if (!knownUrls.has(citation.url)) attempt.citations.push(citation);
    knownUrls.add(citation.url);
  }
}

function presentationCompleted(
  turn: TurnView,
  attempt: AttemptView,
  event: EventOf<"presentation.completed">,
): void {
  const { agent: presenter, label, content, source, fallback, changed_files, tools } = event;
  const cutFields = changed_files === undefined ? {} : { changed_files };
  attempt.presentation = {
    agent: presenter,
    label,
    content,
    source,
    fallback,
    ...cutFields,
    tools,
  };
  const agent = agentById(turn, presenter);
  if (!agent) return;
  agent.call = null;
  agent.tools = [];
  agent.lastActivityAt = event.at;
  if (agent.out === null) agent.status = "completed";
}

/**
 * Finds an agent by a linear search, which is fast enough for at most 64 agents. An array keeps the
 * order of the agents, and it is plain data.
 */
export const agentById = (turn: TurnView, id: string): AgentView | undefined =>
  turn.agents.find((agent) => agent.id === id);
