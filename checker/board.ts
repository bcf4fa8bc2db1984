import type { EventOf, Purpose } from "../src/protocol/events";
import type { AgentRules, TeamRules, ToolRule } from "../src/protocol/team";
import { type Amount, NOTHING } from "./price";

/**
 * An answer of the current attempt. The types and functions of this file follow the text of the
 * protocol. They do not use the code of the coordination rules, so that a mistake in that code is
 * not repeated in the checker.
 */
export type BoardAnswer = {
  revision: number;
  agent: string;
  label: string;
  content: string;
  snapshot: string | null;
  /** Whether it is the partial text of its author. */
  isPartial: boolean;
  /** Whether the author's round changed files. */
  changedFiles: boolean;
};

/** The open round of an agent. */
export type BoardRound = {
  number: number;
  purpose: Purpose;
  /** Number of completed calls. */
  completedCalls: number;
  nudges: number;
  /** Number of injections that came with a tool result. */
  toolResultInjections: number;
  hasVoted: boolean;
  /** The end of the round's latest call; `null` before the first call has ended. */
  lastCallEnd: EventOf<"call.completed"> | EventOf<"call.failed"> | null;
  /** Failed tries of the current call, without interruptions. */
  failedTries: number;
  /** Interrupted tries of the current call. */
  interruptions: number;
  /** Input tokens of the next call if it is deferred, else `null`. */
  deferredInputTokens: number | null;
  /** Input tokens of the next call if it waits for its backend's rate limits, else `null`. */
  waitingInputTokens: number | null;
  /** Names of tools that ran in the round. */
  executedTools: string[];
  /** Time at which the round started or was reopened. */
  startedAt: number;
  /**
   * Completed calls since `startedAt` that could only decide, because their round was at its limit.
   */
  decisionOnlyCalls: string[];
};

export type BoardAgent = {
  id: string;
  /** Position in the team of the turn, from 0. */
  index: number;
  /** Number in labels: the position in the whole team, from 1. */
  number: number;
  rules: AgentRules;
  /** Number of its answers in the attempt. */
  answers: number;
  /** Revision of its newest answer; 0 if it has none. */
  newestRevision: number;
  /** Revisions of the answers that the agent was shown. */
  shownRevisions: Set<number>;
  /** Revision for which its valid vote is; `null` without a valid vote. */
  vote: number | null;
  /** UTF-8 bytes of the reason of its last vote. */
  reasonBytes: number;
  /** Revision for which its last vote was, valid or not. */
  lastVote: number | null;
  /** How the agent dropped out; `null` for a live agent. */
  out: "failed" | "abstained" | null;
  /** Time at which it failed or abstained; `null` if it did not. */
  outAt: number | null;
  round: BoardRound | null;
  coordinationRounds: number;
  /** Number of completed calls in its coordination rounds. */
  completedCalls: number;
  lastRoundNumber: number;
  /** Whether the agent has started a round since its first answer. */
  hasContinued: boolean;
  consecutiveFailedRounds: number;
  /** Time of its newest answer or vote; `null` before its first answer. */
  decidedAt: number | null;
  /** Times of the first and the last failed try since its last completed call; `null` if none. */
  failing: { firstAt: number; lastAt: number } | null;
};

/** A requested tool call without a result. */
type OpenTool = {
  agent: string;
  round: number;
  toolCall: string;
  name: string;
  status: "asked" | "started";
};

/** A turn of the session. `end`: the type of its last event; `null` while it runs. */
export type PastTurn = {
  parent: number | null;
  kind: "compact" | undefined;
  end: "turn.completed" | "turn.failed" | "turn.cancelled" | null;
};

/** The state of a session that an observer derives from the log. */
export type Board = {
  /** The team of `session.created`. */
  sessionRules: TeamRules | null;
  /** The rules of the latest turn: its team with its overrides. */
  rules: TeamRules | null;
  turn: EventOf<"turn.started"> | null;
  /** Number of the turn if it has ended; `null` while a turn runs. */
  endedTurn: number | null;
  /** The turn that the next turn continues by default; `null` before the first turn. */
  head: number | null;
  /** The summary that the turn must write first; `null` if there is none, or not any more. */
  plannedSummary: NonNullable<EventOf<"turn.started">["history"]>["summarises"] | null;
  /** All turns so far, by number. */
  past: Map<number, PastTurn>;
  /** The summaries of the session, in order. */
  summaries: EventOf<"history.summarised">[];
  /** Number of the current attempt. */
  attempt: number;
  attemptStartedAt: number;
  /** Time from which agents could start their first rounds; `null` while personas are written. */
  workingSince: number | null;
  answers: BoardAnswer[];
  /** Time of the first answer; `null` before it. */
  firstAnswerAt: number | null;
  /** Until when agents with an answer wait for the others; `null` before the second answer. */
  graceEnd: number | null;
  agents: BoardAgent[];
  settled: EventOf<"attempt.settled"> | null;
  /** The start of the attempt's presentation. */
  presenting: EventOf<"presentation.started"> | null;
  /** The final text of the attempt. */
  final: EventOf<"presentation.completed"> | null;
  /** Final texts of this turn, by attempt. */
  finals: EventOf<"presentation.completed">[];
  /** The end of each attempt's coordination in this turn, by attempt. */
  endings: Map<number, EventOf<"attempt.settled">>;
  /** Charges of this turn so far. */
  spent: Amount;
  /** Running calls by id. */
  openCalls: Map<string, EventOf<"call.started">>;
  openTools: OpenTool[];
  /** Number of calls and tools that were started in this turn. */
  effects: number;
  /** Listings of tool servers in this turn. */
  listings: EventOf<"tools.listed">[];
};

export const newBoard = (): Board => ({
  sessionRules: null,
  rules: null,
  turn: null,
  endedTurn: null,
  head: null,
  plannedSummary: null,
  past: new Map(),
  summaries: [],
  attempt: 0,
  attemptStartedAt: 0,
  workingSince: null,
  answers: [],
  firstAnswerAt: null,
  graceEnd: null,
  agents: [],
  settled: null,
  presenting: null,
  final: null,
  finals: [],
  endings: new Map(),
  spent: NOTHING,
  openCalls: new Map(),
  openTools: [],
  effects: 0,
  listings: [],
});

export const newAgent = (rules: AgentRules, index: number): BoardAgent => ({
  id: rules.id,
  index,
  number: rules.number ?? index + 1,
  rules,
  answers: 0,
  newestRevision: 0,
  shownRevisions: new Set(),
  vote: null,
  reasonBytes: 0,
  lastVote: null,
  out: null,
  outAt: null,
  round: null,
  coordinationRounds: 0,
  completedCalls: 0,
  lastRoundNumber: 0,
  hasContinued: false,
  consecutiveFailedRounds: 0,
  decidedAt: null,
  failing: null,
});

/** A tool of an agent: from its config, or from the last listing of a server in this turn. */
export const toolOf = (board: Board, agent: string, name: string): ToolRule | undefined =>
  [
    ...(agentOf(board, agent)?.rules.tools ?? []),
    ...board.listings.filter((listing) => listing.agent === agent).flatMap(({ tools }) => tools),
  ].findLast((tool) => tool.name === name);

export const agentOf = (board: Board, id: string): BoardAgent | undefined =>
  board.agents.find((agent) => agent.id === id);
export const liveOf = (board: Board): BoardAgent[] =>
  board.agents.filter((agent) => agent.out === null);
export const answerOf = (board: Board, label: string): BoardAnswer | undefined =>
  board.answers.find((answer) => answer.label === label);

/** The newest answer of each agent, sorted by revision. */
export const newestAnswers = (board: Board): BoardAnswer[] =>
  board.answers.filter(
    (answer) => agentOf(board, answer.agent)?.newestRevision === answer.revision,
  );

/** The newest answers that the agent has not been shown. */
export const unseenBy = (board: Board, agent: BoardAgent): BoardAnswer[] =>
  newestAnswers(board).filter(({ revision }) => !agent.shownRevisions.has(revision));

/**
 * Time at which coordination must end. The rest of the turn, 20 % of its time but at most 120 s, is
 * reserved for the presentation.
 */
export function coordinationEnd(board: Board): number {
  if (!board.turn) return Number.POSITIVE_INFINITY;
  const { at, deadline_at } = board.turn;
  return deadline_at - Math.min(120_000, (deadline_at - at) * 0.2);
}

/**
 * The limit that prevents another answer of the agent; `null` if none does. First answers are never
 * limited.
 */
export function limitOn(board: Board, agent: BoardAgent): "own" | "team" | "size" | "lead" | null {
  const { rules } = board;
  if (!rules || agent.answers === 0) return null;
  if (agent.answers >= rules.max_new_answers_per_agent) return "own";
  if (rules.max_new_answers_global !== null && board.answers.length >= rules.max_new_answers_global)
    return "team";
  if (
    board.answers.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0) >=
    8 * 1024 * 1024
  )
    return "size";
  const rivals = liveOf(board).filter((other) => other.id !== agent.id && other.vote === null);
  if (rules.fairness_lead_cap_answers === null || rivals.length === 0) return null;
  const lowest = Math.min(...rivals.map(({ answers }) => answers));
  return agent.answers + 1 - lowest > rules.fairness_lead_cap_answers ? "lead" : null;
}
