import type { EventOf, Purpose } from "../../protocol/events";
import {
  type AgentState,
  type AttemptState,
  indexOf,
  newestRevision,
  type Problem,
  type RoundState,
  type TurnState,
} from "../state";
import { updateAgent, withRound } from "../update";

export type RoundEvent = EventOf<
  | "round.started"
  | "round.failed"
  | "round.nudged"
  | "answers.injected"
  | "agent.failed"
  | "agent.abstained"
>;

/** Folds the events about an agent's rounds, and the events of an agent that drops out. */
export function evolveRound(turn: TurnState, event: RoundEvent): TurnState {
  return updateAgent(turn, indexOf(turn, event.agent), (agent) => evolveAgent(turn, agent, event));
}

function evolveAgent(
  { attempt, rules }: TurnState,
  agent: AgentState,
  event: RoundEvent,
): AgentState {
  const leaves = rules.failing_member_grace_ms === undefined ? {} : { leftAt: event.at };
  switch (event.type) {
    case "round.started":
      return showAnswers(attempt, startRound(agent, event), event.labels);
    case "round.failed":
      return { ...agent, round: null, failedRounds: agent.failedRounds + 1 };
    case "round.nudged":
      return withRound(agent, (round) => ({ ...round, nudges: event.nudge }));
    case "answers.injected":
      return showAnswers(attempt, answersInjected(agent, event), event.labels);
    case "agent.failed":
      return { ...agent, ...leaves, round: null, failed: problemOf(event) };
    case "agent.abstained":
      return { ...agent, ...leaves, round: null, abstained: problemOf(event) };
  }
}

const problemOf = ({ code, message }: EventOf<"agent.failed" | "agent.abstained">): Problem => ({
  code,
  message,
});

function answersInjected(agent: AgentState, event: EventOf<"answers.injected">): AgentState {
  const countedInjections = event.via === "tool_result" ? 1 : 0;
  const updated = withRound(agent, (round) => ({
    ...round,
    status: "calling",
    injections: round.injections + countedInjections,
  }));
  return event.via === "reopened"
    ? withRound(updated, (round) => reopen(round, event.at))
    : updated;
}

/**
 * Reopens a round after its vote was voided. The round has its full time and all its decision calls
 * again.
 */
const reopen = ({ decisionCalls: _, ...round }: RoundState, at: number): RoundState => ({
  ...round,
  startedAt: at,
});

/** `carries` is the number of the failed round whose files the new round keeps. */
type RoundStart = { round: number; purpose: Purpose; at: number; carries?: number | undefined };

export function startRound(
  { filesFrom: earlierFilesFrom, ...agent }: AgentState,
  { round: number, purpose, at, carries }: RoundStart,
): AgentState {
  const filesFrom = carries === undefined ? {} : { filesFrom: earlierFilesFrom ?? carries };
  const round: RoundState = {
    number,
    purpose,
    status: "calling",
    calls: 0,
    call: {
      number: 1,
      sent: 0,
      tries: 0,
      interruptions: 0,
      notBefore: 0,
      inFlight: false,
      deferred: null,
    },
    nudges: 0,
    injections: 0,
    tools: [],
    decisions: [],
    contextTokens: 0,
    executed: [],
    startedAt: at,
  };
  return { ...agent, ...filesFrom, rounds: number, round, released: agent.answers > 0 };
}

/**
 * Records that the agent was shown the answers with these labels. `seen` changes only here, at the
 * start of a round and at an injection. It becomes the newest revision in the attempt.
 */
function showAnswers(
  attempt: AttemptState,
  agent: AgentState,
  labels: readonly string[],
): AgentState {
  if (labels.length === 0) return agent;
  const revisions = attempt.answers
    .filter(({ label }) => labels.includes(label))
    .map(({ revision }) => revision);
  return {
    ...agent,
    seen: newestRevision(attempt),
    shown: [...new Set([...agent.shown, ...revisions])],
  };
}
