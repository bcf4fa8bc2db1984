import type { EventOf } from "../../protocol/events";
import type { TeamRules } from "../../protocol/team";
import {
  type AgentState,
  type AttemptState,
  type FinalText,
  indexOf,
  type TurnState,
} from "../state";
import { updateAgent } from "../update";
import { startRound } from "./evolve-round";

export type AttemptEvent = EventOf<
  | "attempt.started"
  | "personas.assigned"
  | "attempt.settled"
  | "attempt.restarted"
  | "presentation.started"
  | "presentation.completed"
>;

/** Folds the events that concern a whole attempt, its personas or its presentation. */
export function evolveAttempt(turn: TurnState, event: AttemptEvent): TurnState {
  switch (event.type) {
    case "attempt.started":
      return { ...turn, attempt: nextAttempt(turn.rules, event) };
    case "personas.assigned":
      return { ...turn, attempt: personasAssigned(turn, event) };
    case "attempt.settled":
      return { ...turn, attempt: attemptSettled(turn, event) };
    case "attempt.restarted":
      return { ...turn, rejected: turn.attempt.final };
    case "presentation.started":
      return presentationStarted(turn, event);
    case "presentation.completed":
      return presentationCompleted(turn, event);
  }
}

/**
 * The attempt state before the first `attempt.started`, which is committed together with the start
 * of the turn.
 */
export function firstAttempt(rules: TeamRules, at: number): AttemptState {
  return {
    number: 0,
    startedAt: at,
    workingSince: at,
    feedback: null,
    personas: null,
    agents: rules.agents.map(({ id }, index) => newAgent(id, index)),
    answers: [],
    graceEndsAt: null,
    settled: null,
    presenter: null,
    final: null,
  };
}

/** Agents start an attempt without earlier answers or votes; only the feedback is carried over. */
function nextAttempt(rules: TeamRules, event: EventOf<"attempt.started">): AttemptState {
  return { ...firstAttempt(rules, event.at), number: event.attempt, feedback: event.feedback };
}

/** The persona generator's round has ended, with or without personas. */
function personasAssigned(turn: TurnState, event: EventOf<"personas.assigned">): AttemptState {
  return {
    ...turn.attempt,
    workingSince: event.at,
    personas: turn.rules.agents.map(({ id }) => event.personas[id] ?? null),
    agents: turn.attempt.agents.map((agent) => ({ ...agent, round: null })),
  };
}

/** Coordination has ended, and so all open rounds end. */
function attemptSettled(turn: TurnState, event: EventOf<"attempt.settled">): AttemptState {
  const { attempt } = turn;
  const answer = attempt.answers.find(({ label }) => label === event.label);
  return {
    ...attempt,
    agents: attempt.agents.map((agent) => ({ ...agent, round: null })),
    settled: {
      winner: event.winner === null ? null : indexOf(turn, event.winner),
      revision: answer?.revision ?? null,
      endedBy: event.ended_by,
    },
  };
}

function presentationStarted(turn: TurnState, event: EventOf<"presentation.started">): TurnState {
  const presenter = indexOf(turn, event.agent);
  const started = updateAgent(turn, presenter, (agent) =>
    startRound(agent, { ...event, purpose: "presentation" }),
  );
  return { ...started, attempt: { ...started.attempt, presenter } };
}

function presentationCompleted(
  turn: TurnState,
  event: EventOf<"presentation.completed">,
): TurnState {
  const ended = updateAgent(turn, indexOf(turn, event.agent), (agent) => ({
    ...agent,
    round: null,
  }));
  return { ...ended, attempt: { ...ended.attempt, final: finalText(turn, event) } };
}

function finalText(turn: TurnState, event: EventOf<"presentation.completed">): FinalText {
  return {
    attempt: event.attempt,
    agent: indexOf(turn, event.agent),
    label: event.label,
    content: event.content,
    endedBy: turn.attempt.settled?.endedBy ?? "skipped",
    tools: event.tools,
  };
}

function newAgent(id: string, index: number): AgentState {
  return {
    index,
    id,
    rounds: 0,
    round: null,
    seen: 0,
    shown: [],
    answers: 0,
    newest: 0,
    snapshot: null,
    vote: null,
    lastVote: null,
    released: false,
    failedRounds: 0,
    called: false,
    completedCalls: 0,
    failed: null,
    abstained: null,
  };
}
