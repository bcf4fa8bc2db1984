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

/**
 * The state of a session's running turn: plain data, rebuilt by folding the log (`evolve.ts`),
 * never stored on its own. `structuredClone` must work on it.
 */
export type SessionState = {
  /** Latest time seen, unix ms. Time in the log never goes back. */
  lastAt: number;
  rules: TeamRules | null;
  /** Highest turn number so far. */
  turns: number;
  /** The latest turn; `done` after its terminal event. */
  turn: TurnState | null;
};

/**
 * Attachments of a question. `tokens`: upper bound of the input tokens that any agent of the team
 * reads for them in one call.
 */
export type QuestionAttachments = { attachments: readonly Attachment[]; tokens: number };

export type TurnState = {
  number: number;
  rules: TeamRules;
  question: string;
  questionBytes: number;
  /** Images and files that came with the question. Omitted if there are none. */
  attached?: QuestionAttachments;
  startedAt: number;
  deadlineAt: number;
  /** Coordination ends here; the rest of the time is for the presentation. */
  coordinationEndsAt: number;
  /** By agent index. */
  aliases: readonly string[];
  /** Uploads that agents can see. Omitted if there are none. */
  contexts?: readonly PinnedContext[];
  budget: Budget;
  spentTokens: number;
  /** Cost with a known price. */
  spentUsd: number;
  /** Set if anything without a known price was charged. */
  unpriced?: true;
  /** Usage as reported by providers. */
  usage: Usage;
  /** Number of calls and tools started. */
  effects: number;
  /** Started and not settled, by effect id. */
  inFlight: Readonly<Record<string, InFlight>>;
  /** Tools of the agents' servers as listed in this turn. Omitted if nothing was listed yet. */
  listings?: readonly ToolListing[];
  attempt: AttemptState;
  /** The last rejected final text; presented if a later attempt ends without an answer. */
  rejected: FinalText | null;
  done: boolean;
};

export type InFlight =
  | {
      type: "model_call";
      agent: number;
      reservedTokens: number;
      /** Cost with a known price. */
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

/** `times`: how often the server's tools were listed for the agent in this turn. */
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
  /** By agent index. `null` until the persona generator ran; all entries `null` if it failed. */
  personas: readonly (string | null)[] | null;
  agents: readonly AgentState[];
  /** Revision n has index n − 1. */
  answers: readonly Answer[];
  /**
   * When agents with an answer stop waiting for those without. `null` before the team's second
   * answer.
   */
  graceEndsAt: number | null;
  settled: Settlement | null;
  /** Index of the presenter; `null` before the presentation starts. */
  presenter: number | null;
  final: FinalText | null;
};

export type Answer = {
  revision: number;
  agent: number;
  label: string;
  content: string;
  /** UTF-8 length of `content`. */
  bytes: number;
  origin: "tool" | "partial";
  snapshot: string | null;
  /** As in the event. Omitted if the event has no such field. */
  files?: HandedFiles;
  keptFiles?: number;
  leftOut?: LeftOut;
};

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
  rounds: number;
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
  answers: number;
  /** Revision of the agent's newest answer; 0 means it has no answer. */
  newest: number;
  /** Snapshot of the agent's newest answer. */
  snapshot: string | null;
  /** The agent's vote while it is valid. */
  vote: { revision: number; reason: string } | null;
  /** The agent's last vote, valid or voided. */
  lastVote: { revision: number; reason: string } | null;
  /**
   * Whether the agent has started a round after its first answer: it no longer waits for the
   * others.
   */
  released: boolean;
  failedRounds: number;
  /** Whether any call of the agent was sent, even if it failed. */
  called: boolean;
  completedCalls: number;
  failed: Problem | null;
  abstained: Problem | null;
};

export type RoundState = {
  number: number;
  purpose: Purpose;
  /** `voted`: the round is over unless the vote is voided; then the same conversation continues. */
  status: "calling" | "tools" | "voted";
  /** Completed calls. */
  calls: number;
  call: CallState;
  nudges: number;
  /** Updates that were sent with a tool result. */
  injections: number;
  tools: readonly ToolState[];
  /** Decisions of the reply whose tools are running. */
  decisions: readonly Decision[];
  /** Size of the conversation in tokens, after the last reply that reported its length. */
  contextTokens: number;
  /** Names of tools that ran in this round. */
  executed: readonly string[];
  /** Unix ms: when the round started, or was last reopened after its vote was voided. */
  startedAt: number;
  /** Completed calls that asked only for a decision. Omitted if there are none. */
  decisionCalls?: number;
};

export type CallState = {
  /** 1 for the first call of the round. */
  number: number;
  /** How often the call was sent. Part of each try's id. */
  sent: number;
  /** Tries that count towards the cap. */
  tries: number;
  interruptions: number;
  /**
   * Failed probes in a row, and the time of the first (unix ms). Omitted if the last try was sent.
   */
  unreachable?: { since: number; probes: number };
  /** Unix ms; the call is not sent before. */
  notBefore: number;
  inFlight: boolean;
  /** Input tokens of a call that was deferred for lack of budget; `null` if it was not. */
  deferred: number | null;
  /**
   * Input tokens of a call that waits for its backend's rate limits. Omitted if it does not wait.
   */
  waiting?: number;
  /** Set if the call was rejected as too long and its conversation will be summarized first. */
  tooLong?: true;
  /** Set if the conversation was summarized or cannot be. */
  compacted?: true;
};

/** `forwarded`: counts of what was forwarded to people. Omitted if nothing was. */
export type ToolState = {
  id: string;
  name: string;
  status: "owed" | "started" | "settled";
  interruptions: number;
  forwarded?: ForwardedCounts;
};

/**
 * Number of forwarded elicitations and progress notifications. `progressAt`: unix ms of the latest
 * forwarded progress.
 */
export type ForwardedCounts = { inputs: number; progress: number; progressAt: number };

export const emptySession: SessionState = { lastAt: 0, rules: null, turns: 0, turn: null };

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

/** The agent at this index. Throws if there is none. */
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

/** The index of the agent with this id. Throws if there is none. */
export function indexOf(turn: TurnState, id: string): number {
  const index = turn.rules.agents.findIndex((agent) => agent.id === id);
  if (index < 0) throw new Error(`no agent with id ${id}`);
  return index;
}

/** What a call in flight has reserved, in US dollars. */
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

/** What the turn's calls were charged so far, in US dollars. */
export const spentCost = ({ spentUsd, unpriced }: TurnState): Cost => ({
  usd: spentUsd,
  isComplete: unpriced === undefined,
});
