import type { EventOf } from "../../protocol/events";
import type { TeamRules } from "../../protocol/team";
import type { AgentState, AttemptState, TurnState } from "../state";
import { indexOf } from "../state";

/** The attempt a turn begins with; its `attempt.started` follows in the same commit. */
export function firstAttempt(rules: TeamRules, at: number): AttemptState {
  return {
    number: 0,
    startedAt: at,
    workingSince: at,
    feedback: null,
    personas: null,
    agents: rules.agents.map(({ id }, index) => freshAgent(id, index)),
    answers: [],
    graceEndsAt: null,
    settled: null,
    presenter: null,
    final: null,
  };
}

/** Agents begin an attempt afresh: nothing but the feedback is carried over. */
export function nextAttempt(rules: TeamRules, event: EventOf<"attempt.started">): AttemptState {
  return { ...firstAttempt(rules, event.at), number: event.attempt, feedback: event.feedback };
}

/** Coordination is over: open rounds end where they stand. */
export function settleAttempt(turn: TurnState, event: EventOf<"attempt.settled">): AttemptState {
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

/** The generator's round is over, whatever came of it. */
export function assignPersonas(turn: TurnState, event: EventOf<"personas.assigned">): AttemptState {
  return {
    ...turn.attempt,
    workingSince: event.at,
    personas: turn.rules.agents.map(({ id }) => event.personas[id] ?? null),
    agents: turn.attempt.agents.map((agent) => ({ ...agent, round: null })),
  };
}

function freshAgent(id: string, index: number): AgentState {
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
