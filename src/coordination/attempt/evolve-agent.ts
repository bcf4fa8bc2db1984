import type { EventOf, Purpose } from "../../protocol/events";
import { byteLength } from "../byte-length";
import {
  type AgentState,
  type Answer,
  type AttemptState,
  agentAt,
  type FinalText,
  indexOf,
  newestRevision,
  type RoundState,
  type TurnState,
} from "../state";
import { graceEnd } from "../turn/timers";

type AgentEvent = EventOf<
  | "round.started"
  | "round.failed"
  | "round.nudged"
  | "answer.submitted"
  | "answer.refused"
  | "votes.cleared"
  | "vote.cast"
  | "vote.stale"
  | "vote.refused"
  | "answers.injected"
  | "agent.failed"
  | "agent.abstained"
  | "presentation.started"
  | "presentation.completed"
>;

/** Facts about agents, their rounds, answers and votes. */
export function evolveAgent(turn: TurnState, event: AgentEvent): AttemptState {
  const { attempt } = turn;
  switch (event.type) {
    case "answer.submitted":
      return answerSubmitted(turn, event);
    case "votes.cleared":
      return { ...attempt, agents: attempt.agents.map((agent) => ({ ...agent, vote: null })) };
    case "presentation.started": {
      const presenter = indexOf(turn, event.agent);
      return {
        ...change(turn, event.agent, (agent) =>
          startRound(agent, { ...event, purpose: "presentation" }),
        ),
        presenter,
      };
    }
    case "presentation.completed":
      return {
        ...change(turn, event.agent, (agent) => ({ ...agent, round: null })),
        final: finalText(turn, event),
      };
    case "answer.refused":
    case "vote.refused":
    case "vote.stale":
      return attempt;
    default:
      return change(turn, event.agent, (agent) => evolveOne(attempt, agent, event));
  }
}

type OwnEvent = EventOf<
  | "round.started"
  | "round.failed"
  | "round.nudged"
  | "vote.cast"
  | "answers.injected"
  | "agent.failed"
  | "agent.abstained"
>;

function evolveOne(attempt: AttemptState, agent: AgentState, event: OwnEvent): AgentState {
  switch (event.type) {
    case "round.started":
      return shownTo(attempt, startRound(agent, event), event.labels);
    case "round.failed":
      return { ...agent, round: null, failedRounds: agent.failedRounds + 1 };
    case "round.nudged":
      return withRound(agent, (round) => ({ ...round, nudges: event.nudge }));
    case "vote.cast": {
      const vote = { revision: event.revision, reason: event.reason };
      return withRound({ ...agent, vote, lastVote: vote, failedRounds: 0 }, (round) => ({
        ...round,
        status: "voted",
      }));
    }
    case "answers.injected": {
      const midstream = event.via === "tool_result" ? 1 : 0;
      const told = withRound(agent, (round) => ({
        ...round,
        status: "calling",
        injections: round.injections + midstream,
      }));
      const reopened =
        event.via === "reopened" ? withRound(told, (round) => reopen(round, event.at)) : told;
      return shownTo(attempt, reopened, event.labels);
    }
    case "agent.failed":
      return { ...agent, round: null, failed: { code: event.code, message: event.message } };
    case "agent.abstained":
      return { ...agent, round: null, abstained: { code: event.code, message: event.message } };
  }
}

function answerSubmitted(turn: TurnState, event: EventOf<"answer.submitted">): AttemptState {
  const { attempt } = turn;
  const answer: Answer = {
    revision: event.revision,
    agent: indexOf(turn, event.agent),
    label: event.label,
    content: event.content,
    bytes: byteLength(event.content),
    origin: event.origin,
    snapshot: event.snapshot,
    ...(event.files && { files: event.files }),
    ...(event.kept_files !== undefined && { keptFiles: event.kept_files }),
    ...(event.left_out && { leftOut: event.left_out }),
  };
  const answers = [...attempt.answers, answer];
  const answered = change(turn, event.agent, (agent) => ({
    ...agent,
    round: null,
    answers: agent.answers + 1,
    newest: event.revision,
    snapshot: event.snapshot,
    failedRounds: 0,
  }));
  const graceEndsAt =
    answers.length === 2 ? graceEnd(attempt.startedAt, event.at) : attempt.graceEndsAt;
  return { ...answered, answers, graceEndsAt };
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

/** Its vote was voided: the round has its time once more, and calls to decide in. */
const reopen = ({ decisionCalls: _, ...round }: RoundState, at: number): RoundState => ({
  ...round,
  startedAt: at,
});

type RoundStart = { round: number; purpose: Purpose; at: number; carries?: number | undefined };

function startRound(
  { filesFrom: before, ...agent }: AgentState,
  { round: number, purpose, at, carries }: RoundStart,
): AgentState {
  const filesFrom = carries === undefined ? {} : { filesFrom: before ?? carries };
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

/** `seen` changes here alone: at the start of a round and at an injection, to the newest revision there is. */
function shownTo(attempt: AttemptState, agent: AgentState, labels: readonly string[]): AgentState {
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

function withRound(agent: AgentState, update: (round: RoundState) => RoundState): AgentState {
  return agent.round ? { ...agent, round: update(agent.round) } : agent;
}

function change(
  turn: TurnState,
  id: string,
  update: (agent: AgentState) => AgentState,
): AttemptState {
  const index = indexOf(turn, id);
  return {
    ...turn.attempt,
    agents: turn.attempt.agents.with(index, update(agentAt(turn.attempt, index))),
  };
}
