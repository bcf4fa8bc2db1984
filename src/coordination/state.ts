import type { Attachment } from "../protocol/attachments";
import type {
  Decision,
  EndedBy,
  HandedFiles,
  LeftOut,
  ListedTool,
  PinnedContext,
  Purpose,
  Usage,
} from "../protocol/events";
import type { Cost } from "../protocol/cost";
import type { Budget, TeamRules } from "../protocol/team";
import type { NarrowWindow } from "./history/narrow-windows";

/**
 * The state of a session and its latest turn. It is plain data (`structuredClone` must work on it).
 * It is never stored: folding the log (`evolve.ts`) computes it again.
 */
export type SessionState = {
  /** Latest time of an event so far, unix ms. Time in the log never goes back. */
  lastAt: number;
  /** `null` before the first turn. */
  rules: TeamRules | null;
  /** Highest turn number so far. */
  turns: number;
  /** The turn to which the user moved the head. Omitted: the head is the latest turn. */
  head?: number;
  /** The latest turn; `null` before the first turn. */
  turn: TurnState | null;
};

/**
 * Attachments of a question. `tokens` is an upper bound of the input tokens that they cost in one
 * call of any agent.
 */
export type QuestionAttachments = { attachments: readonly Attachment[]; tokens: number };

export type TurnState = {
  number: number;
  rules: TeamRules;
  question: string;
  questionBytes: number;
  /** Attachments of the question. Omitted if there are none. */
  attached?: QuestionAttachments;
  /** Unix ms, as are the other times. */
  startedAt: number;
  deadlineAt: number;
  /** When coordination ends. The time from then until `deadlineAt` is for the presentation. */
  coordinationEndsAt: number;
  /** The agents' aliases, by agent index. */
  aliases: readonly string[];
  /** Uploads that agents can see. Omitted if there are none. */
  contexts?: readonly PinnedContext[];
  /** Set if the turn only summarises the conversation so far. */
  kind?: "compact";
  /** How much of the earlier turns the agents see. Omitted: all of it in full. */
  history?: HistoryState;
  budget: Budget;
  /** Tokens that were charged so far. */
  spentTokens: number;
  /** Charges so far that have a known price, in US dollars. */
  spentUsd: number;
  /** Set if anything without a known price was charged. */
  unpriced?: true;
  /** Usage that providers reported so far. */
  usage: Usage;
  /** Number of model calls and tool calls that were started. */
  effects: number;
  /** Effects that are started and not settled, by effect id. */
  inFlight: Readonly<Record<string, InFlight>>;
  /** Tools of the agents' servers as listed in this turn. Omitted if nothing was listed yet. */
  listings?: readonly ToolListing[];
  attempt: AttemptState;
  /** The last rejected final text; presented if a later attempt ends without an answer. */
  rejected: FinalText | null;
  /** Whether the turn has ended. */
  done: boolean;
};

/**
 * `bytes`: the most that earlier turns take in a prompt. `summary`: the last turn that the used
 * summary covers; `null` if none is used. `summarises`: the summary that is to be written; `null`
 * if none is, or no longer. `agent`: index of its author. `windows`: models whose windows
 * are smaller than assumed; omitted: none.
 */
export type HistoryState = {
  bytes: number;
  windows?: readonly NarrowWindow[];
  summary: number | null;
  summarises: { turns: readonly number[]; agent: number } | null;
};

export type InFlight =
  | {
      type: "model_call";
      agent: number;
      reservedTokens: number;
      /** Reserved cost that has a known price, in US dollars. */
      reservedUsd: number;
      /** Set if the call may use anything without a known price. */
      unpriced?: true;
      /** Set for a research call. */
      research?: true;
      /** Set for a call that summarizes its agent's conversation. */
      compacts?: true;
      /** Set if the round's limit is reached, so that the call asks only for a decision. */
      decides?: true;
    }
  | { type: "tool_call"; agent: number };

/**
 * The tools of one server for one agent. `times` is how often they were listed in this turn: at the
 * start and after changes.
 */
export type ToolListing = {
  agent: number;
  server: string;
  tools: readonly ListedTool[];
  times: number;
};

export type AttemptState = {
  number: number;
  startedAt: number;
  /** When the attempt's agents could start: after the personas were written or skipped. */
  workingSince: number;
  feedback: { reason: string; instructions: string } | null;
  /**
   * Personas by agent index. `null` before the persona generator has ended. If it failed, all
   * entries are `null`.
   */
  personas: readonly (string | null)[] | null;
  agents: readonly AgentState[];
  /** All answers, in the order of their revisions. Revision n has index n − 1. */
  answers: readonly Answer[];
  /**
   * When agents with an answer stop waiting for agents without one (unix ms). `null` before the
   * team's second answer.
   */
  graceEndsAt: number | null;
  /** Time of the first answer (unix ms). Omitted before it, and if the grace is not paced. */
  firstAnswerAt?: number;
  /** The end of coordination; `null` before it. */
  settled: Settlement | null;
  /** Index of the presenter; `null` before the presentation starts. */
  presenter: number | null;
  /** The final text; `null` before the presentation has completed. */
  final: FinalText | null;
};

export type Answer = {
  /** Counts all answers of the attempt from 1. */
  revision: number;
  /** Index of the author. */
  agent: number;
  label: string;
  content: string;
  /** UTF-8 length of `content`. */
  bytes: number;
  /** `partial`: the unfinished text of an agent that was stopped. */
  origin: "tool" | "partial";
  /** Label of the snapshot with the answer's files; `null` if the author has no workspace. */
  snapshot: string | null;
  /** The fields `files`, `kept_files` and `left_out` of the event, each omitted if absent there. */
  files?: HandedFiles;
  keptFiles?: number;
  leftOut?: LeftOut;
};

/**
 * The result of coordination. `winner` is the index of the agent that presents, and `revision` is
 * its winning answer. Either is `null` if there is none.
 */
export type Settlement = { winner: number | null; revision: number | null; endedBy: EndedBy };

export type FinalText = {
  attempt: number;
  agent: number;
  label: string;
  content: string;
  endedBy: EndedBy;
  /** Tools that the presenter executed. */
  tools: readonly string[];
};

export type Problem = { code: string; message: string };

export type AgentState = {
  index: number;
  id: string;
  /** Number of rounds that the agent has started in this attempt. */
  rounds: number;
  /** The open round; `null` if no round is open. */
  round: RoundState | null;
  /**
   * The failed round under whose number the workspace's changes are stored. Omitted if it is the
   * latest round.
   */
  filesFrom?: number;
  /** Highest revision that the agent was shown. */
  seen: number;
  /** All revisions that the agent was shown. */
  shown: readonly number[];
  /** Number of answers that the agent has given in this attempt. */
  answers: number;
  /** Revision of the agent's newest answer; 0 if it has no answer. */
  newest: number;
  /** Snapshot of the agent's newest answer; `null` if there is no such snapshot. */
  snapshot: string | null;
  /** The agent's valid vote; `null` if it has none or the vote was voided. */
  vote: { revision: number; reason: string } | null;
  /** The agent's last vote, valid or voided. */
  lastVote: { revision: number; reason: string } | null;
  /**
   * Whether the agent has started a round after its first answer. It then no longer waits for the
   * answers of other agents.
   */
  released: boolean;
  /** Failed rounds in a row. */
  failedRounds: number;
  /**
   * Unix ms of the agent's newest answer or vote. Omitted if the rules do not limit the wait for
   * failing members.
   */
  decidedAt?: number;
  /** Unix ms at which the agent failed or abstained. Omitted if it did not, or as above. */
  leftAt?: number;
  /** The failed tries since its last completed call. Omitted if there are none, or as above. */
  failing?: FailedTries;
  /** Whether a call of the agent was started, even if it failed. */
  called: boolean;
  completedCalls: number;
  /** Why the agent failed; `null` if it has not failed. */
  failed: Problem | null;
  /** Why the agent abstained; `null` if it has not abstained. */
  abstained: Problem | null;
};

/** `firstAt` and `lastAt`: unix ms of the first and the last failed try. `problem`: of the last. */
export type FailedTries = { firstAt: number; lastAt: number; problem: Problem };

export type RoundState = {
  number: number;
  purpose: Purpose;
  /**
   * `calling`: a call is owed or in flight. `tools`: tools are owed or running. `voted`: the agent
   * has voted; if the vote is voided, the same conversation continues.
   */
  status: "calling" | "tools" | "voted";
  /** Number of completed calls. */
  calls: number;
  /** The next call, or the call in flight. */
  call: CallState;
  /** Number of reminders to decide. */
  nudges: number;
  /** Injections that were sent with a tool result. */
  injections: number;
  tools: readonly ToolState[];
  /** Decisions of the latest reply. They count once its tools have results. */
  decisions: readonly Decision[];
  /** Size of the conversation in tokens, after the last reply that reported its length. */
  contextTokens: number;
  /** Names of tools that ran in this round. */
  executed: readonly string[];
  /** When the round started, or was last reopened after its vote was voided (unix ms). */
  startedAt: number;
  /** Number of completed calls that asked only for a decision. Omitted if there are none. */
  decisionCalls?: number;
};

export type CallState = {
  /** 1 for the first call of the round. */
  number: number;
  /** How often the call was sent. Part of each try's id. */
  sent: number;
  /** Failed tries, without interruptions. */
  tries: number;
  /** Tries that a restart of the service interrupted. */
  interruptions: number;
  /**
   * Failed probes in a row: their number, and the time of the first (unix ms). Omitted if the last
   * try was sent.
   */
  unreachable?: { since: number; probes: number };
  /** Unix ms; the call is not sent before. */
  notBefore: number;
  /** Unix ms until which the provider asked to wait. Omitted if it did not. */
  providerWaitsUntil?: number;
  inFlight: boolean;
  /** Input tokens of a call that was deferred for lack of budget; `null` if it was not. */
  deferred: number | null;
  /**
   * Input tokens of a call that waits for its backend's rate limits. Omitted if it does not wait.
   */
  waiting?: number;
  /** Set if the call was rejected as too long and its conversation will be summarized first. */
  tooLong?: true;
  /** Set if the conversation was summarized for this call, or cannot be summarized. */
  compacted?: true;
};

/** A tool call of a reply. `forwarded` is omitted if no notification was forwarded to people. */
export type ToolState = {
  id: string;
  name: string;
  status: "owed" | "started" | "settled";
  interruptions: number;
  forwarded?: ForwardedCounts;
};

/**
 * Numbers of elicitations (`inputs`) and progress notifications that were forwarded to people.
 * `progressAt` is the time of the latest forwarded progress, unix ms.
 */
export type ForwardedCounts = { inputs: number; progress: number; progressAt: number };

export const emptySession: SessionState = {
  lastAt: 0,
  rules: null,
  turns: 0,
  turn: null,
};

/** The running turn; `null` if no turn runs. */
export const runningTurn = (state: SessionState): TurnState | null =>
  state.turn && !state.turn.done ? state.turn : null;

/** The round under whose number the changes of the agent's workspace are stored. */
export const filesRound = ({ filesFrom, rounds }: AgentState): number => filesFrom ?? rounds;

/** A live agent has not failed and has not abstained. */
export const isLive = (agent: AgentState): boolean =>
  agent.failed === null && agent.abstained === null;

export const newestRevision = (attempt: AttemptState): number => attempt.answers.length;

/** The candidates: each agent's newest answer, in revision order. */
export function candidates(attempt: AttemptState): Answer[] {
  return attempt.answers.filter(
    (answer) => attempt.agents[answer.agent]?.newest === answer.revision,
  );
}

/** The agent at this index. Throws if there is no such agent. */
export function agentAt(attempt: AttemptState, index: number): AgentState {
  const agent = attempt.agents[index];
  if (!agent) throw new Error(`no agent at index ${index}`);
  return agent;
}

export function answerAt(attempt: AttemptState, revision: number): Answer {
  const answer = attempt.answers[revision - 1];
  if (!answer) throw new Error(`no answer of revision ${revision}`);
  return answer;
}

/** The index of the agent with this id. Throws if there is no such agent. */
export function indexOf(turn: TurnState, id: string): number {
  const index = turn.rules.agents.findIndex((agent) => agent.id === id);
  if (index < 0) throw new Error(`no agent with id ${id}`);
  return index;
}

/** The cost that a call in flight has reserved, in US dollars. */
export const reservedCost = ({
  reservedUsd,
  unpriced,
}: {
  reservedUsd: number;
  unpriced?: true;
}): Cost => ({
  usd: reservedUsd,
  isComplete: unpriced === undefined,
});

/** The charges of the turn's calls so far, in US dollars. */
export const spentCost = ({ spentUsd, unpriced }: TurnState): Cost => ({
  usd: spentUsd,
  isComplete: unpriced === undefined,
});
