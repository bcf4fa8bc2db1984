import type { EventOf } from "../src/protocol/events";
import { agentOf, type Board, limitOn } from "./board";
import { type Invariant, unless } from "./types";

const MAX_BYTES = 128 * 1024;

/**
 * Revisions are numbered in each attempt, labels for each agent. The content of an answer is valid.
 */
export const answers: Invariant = {
  id: "answers",
  watch: () => ({
    see: ({ event, board }) => {
      if (event.type !== "answer.submitted") return [];
      const agent = agentOf(board, event.agent);
      if (!agent) return [`an answer of ${event.agent}, who is not in the team`];
      const label = `agent${agent.number}.${agent.answers + 1}`;
      return [
        ...unless(board.settled === null, "an answer after the attempt was settled"),
        ...unless(
          event.revision === board.answers.length + 1,
          `revision ${event.revision} follows ${board.answers.length}`,
        ),
        ...unless(event.label === label, `label ${event.label} where ${label} is due`),
        ...unless(event.content.trim() !== "", "an empty answer was accepted"),
        ...unless(
          new TextEncoder().encode(event.content).byteLength <= MAX_BYTES,
          "an answer of over 128 KB was accepted",
        ),
        ...unless(
          event.origin === "tool" || agent.answers === 0,
          "a partial text became an answer although its author had one",
        ),
        ...unless(
          event.origin === "partial" || agent.out === null,
          "an agent that is out answered",
        ),
        ...unless(
          event.origin === "partial" || agent.round?.purpose === "coordination",
          "an answer outside a coordination round",
        ),
      ];
    },
  }),
};

/**
 * An accepted answer voids all valid votes, and `votes.cleared` lists exactly these votes. A
 * partial text that becomes an answer at the end of coordination voids no votes.
 */
export const voidedVotes: Invariant = {
  id: "voided",
  watch: () => {
    /**
     * Violations by partial texts that voided no votes. They are dropped if coordination ends next.
     */
    let pending: string[] = [];
    return {
      see: ({ event, board, next }) => {
        if (event.type === "stream.delta") return [];
        const isPartial = event.type === "answer.submitted" && event.origin === "partial";
        const violations = isPartial || event.type === "attempt.settled" ? [] : pending;
        if (!isPartial) pending = [];
        if (isPartial) pending = [...pending, ...clearsVotesNext(event, board, next)];
        else if (event.type === "answer.submitted")
          return [...violations, ...clearsVotesNext(event, board, next)];
        if (event.type !== "votes.cleared") return violations;
        return [
          ...violations,
          ...unless(
            event.by === board.answers.at(-1)?.label,
            "votes were cleared by another answer than the newest",
          ),
          ...unless(event.votes.length > 0, "votes.cleared without a vote"),
          ...unless(
            listVotes(event.votes) === listVotes(validVotes(board)),
            "votes.cleared does not list exactly the valid votes",
          ),
        ];
      },
    };
  },
};

/** A violation if valid votes remain after an answer. */
function clearsVotesNext(
  event: EventOf<"answer.submitted">,
  board: Board,
  next: { type: string } | undefined,
): string[] {
  return unless(
    validVotes(board).length === 0 || next?.type === "votes.cleared",
    `answer ${event.label} left votes valid`,
  );
}

type Vote = { agent: string; label: string };
const listVotes = (votes: readonly Vote[]): string =>
  votes
    .map(({ agent, label }) => `${agent}>${label}`)
    .sort()
    .join();

const validVotes = (board: Board): Vote[] =>
  board.agents.flatMap(({ id, vote }) =>
    board.answers
      .filter(({ revision }) => revision === vote)
      .map(({ label }) => ({ agent: id, label })),
  );

/**
 * Limits on the answers of an agent and of the team, and on the lead over agents that still work.
 */
export const answerLimits: Invariant = {
  id: "limits",
  watch: () => ({
    see: ({ event, board }) => {
      if (event.type !== "answer.submitted" && event.type !== "answer.refused") return [];
      const agent = agentOf(board, event.agent);
      if (!agent) return [];
      const limit = limitOn(board, agent);
      if (event.type === "answer.submitted")
        return unless(limit === null, `an answer was accepted beyond the ${limit} limit`);
      const statedLimit = LIMIT_BY_CODE.get(event.code);
      return unless(
        statedLimit === undefined || statedLimit === limit,
        `refused with ${event.code}, but the limit is ${limit ?? "not reached"}`,
      );
    },
  }),
};

/** The limit that each refusal code states. */
const LIMIT_BY_CODE = new Map([
  ["answer_limit", "own"],
  ["team_limit", "team"],
  ["size_limit", "size"],
  ["lead_limit", "lead"],
]);

/** The highest allowed share of common words, by `answer_novelty_requirement`. */
const MAX_OVERLAP = { lenient: 1, balanced: 0.7, strict: 0.5 } as const;

/**
 * An agent's later answer is not identical or too similar to an answer that the agent was shown.
 */
export const novelty: Invariant = {
  id: "novelty",
  watch: () => ({
    see: ({ event, board }) => {
      if (event.type !== "answer.submitted" || event.origin !== "tool" || !board.rules) return [];
      const agent = agentOf(board, event.agent);
      if (!agent || agent.answers === 0) return [];
      const shown = board.answers.filter(({ revision }) => agent.shownRevisions.has(revision));
      const maxOverlap = MAX_OVERLAP[board.rules.answer_novelty_requirement];
      return shown.flatMap(({ label, content }) => [
        ...unless(
          plain(content) !== plain(event.content),
          `${event.label} repeats ${label}, which its author was shown`,
        ),
        ...unless(
          overlap(content, event.content) <= maxOverlap,
          `${event.label} is too close to ${label}`,
        ),
      ]);
    },
  }),
};

const plain = (text: string): string => text.split(/\s+/).filter(Boolean).join(" ");
const words = (text: string): Set<string> =>
  new Set(
    text
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter(Boolean),
  );

/** The share of words that two texts have in common: 0 to 1. */
function overlap(a: string, b: string): number {
  const [left, right] = [words(a), words(b)];
  const shared = [...left].filter((word) => right.has(word)).length;
  const all = left.size + right.size - shared;
  return all === 0 ? 0 : shared / all;
}
