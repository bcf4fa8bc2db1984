import type { EventOf } from "../../protocol/events";
import { graceAfter } from "../attempt/answer-grace";
import { byteLength } from "../byte-length";
import { type AgentState, type Answer, indexOf, type TurnState } from "../state";
import { updateAgent, withRound } from "../update";

export type DecisionEvent = EventOf<
  | "answer.submitted"
  | "answer.refused"
  | "votes.cleared"
  | "vote.cast"
  | "vote.stale"
  | "vote.refused"
>;

/** Folds events about answers and votes. */
export function evolveDecision(turn: TurnState, event: DecisionEvent): TurnState {
  switch (event.type) {
    case "answer.submitted":
      return answerSubmitted(turn, event);
    case "votes.cleared":
      return votesCleared(turn);
    case "vote.cast":
      return voteCast(turn, event);
    case "answer.refused":
    case "vote.refused":
    case "vote.stale":
      return turn; // These events are only for people and for the agent's conversation.
  }
}

function answerSubmitted(turn: TurnState, event: EventOf<"answer.submitted">): TurnState {
  const { attempt } = turn;
  const index = indexOf(turn, event.agent);
  const answer: Answer = {
    revision: event.revision,
    agent: index,
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
  const grace = graceAfter(turn, { author: index, at: event.at });
  const answered = updateAgent(turn, index, (agent) => ({
    ...agent,
    round: null,
    answers: agent.answers + 1,
    newest: event.revision,
    snapshot: event.snapshot,
    failedRounds: 0,
    ...decidedAt(turn, event),
  }));
  return { ...answered, attempt: { ...answered.attempt, answers, ...grace } };
}

function votesCleared(turn: TurnState): TurnState {
  const agents = turn.attempt.agents.map((agent) => ({ ...agent, vote: null }));
  return { ...turn, attempt: { ...turn.attempt, agents } };
}

function voteCast(turn: TurnState, event: EventOf<"vote.cast">): TurnState {
  const vote = { revision: event.revision, reason: event.reason };
  return updateAgent(turn, indexOf(turn, event.agent), (agent) =>
    withRound(
      { ...agent, vote, lastVote: vote, failedRounds: 0, ...decidedAt(turn, event) },
      (round) => ({
        ...round,
        status: "voted",
      }),
    ),
  );
}

const decidedAt = (
  { rules }: TurnState,
  { at }: EventOf<"answer.submitted" | "vote.cast">,
): Pick<AgentState, "decidedAt"> =>
  rules.failing_member_grace_ms === undefined ? {} : { decidedAt: at };
