import type { EventOf, Purpose } from "../src/protocol/events";
import type { AgentRules, TeamRules, ToolRule } from "../src/protocol/team";
import { type Amount, NOTHING } from "./price";

/**
 * The state that an observer derives from the log. Written from the protocol's text and
 * deliberately without the rules' own code, so that a mistake there is not repeated here.
 */
export type BoardAnswer = {
  revision: number;
  agent: string;
  label: string;
  content: string;
  snapshot: string | null;
  /** Its author was cut before the answer was complete. */
  isCut: boolean;
  /** Its round changed files. */
  hasFiles: boolean;
};

export type BoardRound = {
  number: number;
  purpose: Purpose;
  completed: number;
  nudges: number;
  midstream: number;
  voted: boolean;
  /** The end of this round's last call; `null` before it. */
  last: EventOf<"call.completed"> | EventOf<"call.failed"> | null;
  counted: number;
  interrupted: number;
  /** Input tokens of a deferred next call; `null` if it is not deferred. */
  deferred: number | null;
  /** The same for a call that waits for its backend's rate limits and must still be affordable. */
  waiting: number | null;
  executed: string[];
  /** When it started or was reopened. */
  since: number;
  /** Calls completed since then that stated that nothing was left of the round. */
  lastCalls: string[];
};

export type BoardAgent = {
  id: string;
  index: number;
  rules: AgentRules;
  answers: number;
  /** Revision of its newest answer; 0 if it has none. */
  newest: number;
  shown: Set<number>;
  vote: number | null;
  /** UTF-8 length of the reason of its last vote. */
  reasonBytes: number;
  lastVote: number | null;
  out: "failed" | "abstained" | null;
  round: BoardRound | null;
  coordinationRounds: number;
  /** Completed calls of its coordination rounds. */
  repliesSoFar: number;
  roundsSoFar: number;
  /** Has started a round since its first answer. */
  released: boolean;
  failedInARow: number;
};

type OpenTool = {
  agent: string;
  round: number;
  toolCall: string;
  name: string;
  status: "asked" | "started";
};

export type Board = {
  rules: TeamRules | null;
  turn: EventOf<"turn.started"> | null;
  /** Number of the terminal event; `null` before it. */
  over: number | null;
  attempt: number;
  attemptStartedAt: number;
  /** When agents could start their first rounds; `null` while personas are written. */
  workingSince: number | null;
  answers: BoardAnswer[];
  secondAnswerAt: number | null;
  agents: BoardAgent[];
  settled: EventOf<"attempt.settled"> | null;
  presenting: EventOf<"presentation.started"> | null;
  final: EventOf<"presentation.completed"> | null;
  /** Final texts of this turn, by attempt. */
  finals: EventOf<"presentation.completed">[];
  endings: Map<number, EventOf<"attempt.settled">>;
  /** Charges of this turn so far. */
  spent: Amount;
  openCalls: Map<string, EventOf<"call.started">>;
  openTools: OpenTool[];
  effects: number;
  /** Listings of tool servers in this turn. */
  listings: EventOf<"tools.listed">[];
};

export const newBoard = (): Board => ({
  rules: null,
  turn: null,
  over: null,
  attempt: 0,
  attemptStartedAt: 0,
  workingSince: null,
  answers: [],
  secondAnswerAt: null,
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
  rules,
  answers: 0,
  newest: 0,
  shown: new Set(),
  vote: null,
  reasonBytes: 0,
  lastVote: null,
  out: null,
  round: null,
  coordinationRounds: 0,
  repliesSoFar: 0,
  roundsSoFar: 0,
  released: false,
  failedInARow: 0,
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

/** Each agent's newest answer, oldest first. */
export const newestAnswers = (board: Board): BoardAnswer[] =>
  board.answers.filter((answer) => agentOf(board, answer.agent)?.newest === answer.revision);

/** The newest answers that the agent has not been shown. */
export const unseenBy = (board: Board, agent: BoardAgent): BoardAnswer[] =>
  newestAnswers(board).filter(({ revision }) => !agent.shown.has(revision));

/** When coordination must end: the turn's deadline minus min(120 s, 20 %). */
export function coordinationEnd(board: Board): number {
  if (!board.turn) return Number.POSITIVE_INFINITY;
  const { at, deadline_at } = board.turn;
  return deadline_at - Math.min(120_000, (deadline_at - at) * 0.2);
}

/**
 * When agents with an answer stop waiting: 10 % of the attempt's time at the second answer, at
 * least 250 ms and at most 5 s.
 */
export function graceEnd(board: Board): number | null {
  if (board.secondAnswerAt === null) return null;
  const share = (board.secondAnswerAt - board.attemptStartedAt) * 0.1;
  return board.secondAnswerAt + Math.min(5_000, Math.max(250, share));
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
