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
 * The state of a session's running turn: plain data, rebuilt by folding the log (`evolve.ts`), never written on its own.
 * `structuredClone` must work on it.
 */
export type SessionState = {
  /** Latest time seen, unix ms; time never runs backwards inside the log. */
  lastAt: number;
  rules: TeamRules | null;
  /** Highest turn number so far. */
  turns: number;
  /** The latest turn; `done` when its terminal event is logged. */
  turn: TurnState | null;
};

/** `tokens`: no agent of the team reads more input tokens for them in one call. */
export type Attached = { attachments: readonly Attachment[]; tokens: number };

export type TurnState = {
  number: number;
  rules: TeamRules;
  question: string;
  questionBytes: number;
  /** Images and files that came with the question; absent: none. */
  attached?: Attached;
  startedAt: number;
  deadlineAt: number;
  /** Coordination ends here; the rest is kept for the presentation. */
  coordinationEndsAt: number;
  /** By agent index. */
  aliases: readonly string[];
  /** What the user uploaded and agents see; absent: nothing. */
  contexts?: readonly PinnedContext[];
  budget: Budget;
  spentTokens: number;
  /** The part with a known price. */
  spentUsd: number;
  /** Something was charged that has no known price; absent: nothing was. */
  unpriced?: true;
  /** As providers reported it. */
  usage: Usage;
  /** Calls and tools started so far. */
  effects: number;
  /** Started and not settled, by effect id. */
  inFlight: Readonly<Record<string, InFlight>>;
  /** What tool servers have for agents, as they said in this turn; absent: they have said nothing. */
  listings?: readonly ToolListing[];
  attempt: AttemptState;
  /** What the last rejected presentation said; presented if a later attempt ends without an answer. */
  rejected: FinalText | null;
  done: boolean;
};

export type InFlight =
  | {
      type: "model_call";
      agent: number;
      reservedTokens: number;
      /** The part with a known price. */
      reservedUsd: number;
      /** Part of what it may use has no known price; absent: all has one. */
      unpriced?: true;
      /** A research call; absent: it is none. */
      research?: true;
      /** Sums up its agent's conversation; absent: it does not. */
      compacts?: true;
      /** Its round's limit is reached, so it asks for nothing but a decision; absent: it does not. */
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
  /** When its agents could begin: once the personas were written, or passed over. */
  workingSince: number;
  feedback: { reason: string; instructions: string } | null;
  /** Written by the persona generator; null until it ran, empty if it failed. By agent index. */
  personas: readonly (string | null)[] | null;
  agents: readonly AgentState[];
  /** Revision n lies at n − 1. */
  answers: readonly Answer[];
  /** When agents with an answer stop waiting for those without; null before the team's second answer. */
  graceEndsAt: number | null;
  settled: Settlement | null;
  /** Index of the presenter, once the presentation has begun. */
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
  /** As in its event; absent: not told. */
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
  /** Tools the presenter executed. */
  tools: readonly string[];
};

export type Problem = { code: string; message: string };

export type AgentState = {
  index: number;
  id: string;
  rounds: number;
  round: RoundState | null;
  /** The round under whose number the workspace's changes are stored, if it is an earlier one that failed. Absent: the latest round. */
  filesFrom?: number;
  /** Highest revision it was shown. */
  seen: number;
  /** Every revision it was shown. */
  shown: readonly number[];
  answers: number;
  /** Revision of its newest answer; 0 without one. */
  newest: number;
  /** The snapshot of its newest answer. */
  snapshot: string | null;
  /** Valid vote. */
  vote: { revision: number; reason: string } | null;
  /** The last vote it cast, valid or voided. */
  lastVote: { revision: number; reason: string } | null;
  /** Has begun a round after its first answer, so the wait for the others is behind it. */
  released: boolean;
  failedRounds: number;
  /** A call of it was sent, be it in vain. */
  called: boolean;
  completedCalls: number;
  failed: Problem | null;
  abstained: Problem | null;
};

export type RoundState = {
  number: number;
  purpose: Purpose;
  /** `voted`: over, unless the vote is voided; then the same conversation goes on. */
  status: "calling" | "tools" | "voted";
  /** Calls completed. */
  calls: number;
  call: CallState;
  nudges: number;
  /** Updates that came with a tool result (kind a of §6). */
  injections: number;
  tools: readonly ToolState[];
  /** Decisions of the reply whose tools are running. */
  decisions: readonly Decision[];
  /** Size of the conversation after the last reply whose usage told it, in tokens. */
  contextTokens: number;
  /** Names of tools that ran in this round. */
  executed: readonly string[];
  /** Unix ms: when it began, or was last opened again after its vote was voided. */
  startedAt: number;
  /** Completed calls that asked for nothing but a decision; absent: none. */
  decisionCalls?: number;
};

export type CallState = {
  /** 1 for the first call of the round. */
  number: number;
  /** Times it was sent, for whatever reason it failed; makes each try's id its own. */
  sent: number;
  /** Tries that count against the cap. */
  tries: number;
  interruptions: number;
  /** Probes in a row that did not reach its provider, and when the first failed, unix ms; absent: the last try was sent. */
  unreachable?: { since: number; probes: number };
  /** Unix ms before which it is not sent. */
  notBefore: number;
  inFlight: boolean;
  /** Input tokens it needs room for, if the budget had none when it wanted to start. */
  deferred: number | null;
  /** Input tokens it needs room for, if it waits for its backend's limits; absent: it does not. */
  held?: number;
  /** It was refused as too long, and its conversation is to be summed up first; absent: it was not. */
  tooLong?: true;
  /** Its conversation has been summed up, or could not be; absent: nobody tried. */
  compacted?: true;
};

/** `told`: what people have been told of it; absent: nothing. */
export type ToolState = {
  id: string;
  name: string;
  status: "owed" | "started" | "settled";
  interruptions: number;
  told?: Told;
};

/** How often each; `progressAt`: when the latest progress was told, unix ms. */
export type Told = { inputs: number; progress: number; progressAt: number };

export const emptySession: SessionState = { lastAt: 0, rules: null, turns: 0, turn: null };

/** The turn that is running, or null. */
export const runningTurn = (state: SessionState): TurnState | null =>
  state.turn && !state.turn.done ? state.turn : null;

/** The round under whose number the changes of the agent's workspace are stored. */
export const filesRound = ({ filesFrom, rounds }: AgentState): number => filesFrom ?? rounds;

/** A live agent has not failed and has not run out of calls. */
export const isLive = (agent: AgentState): boolean =>
  agent.failed === null && agent.abstained === null;

export const newestRevision = (attempt: AttemptState): number => attempt.answers.length;

/** Each agent's newest answer, in revision order: the candidates. */
export function candidates(attempt: AttemptState): Answer[] {
  return attempt.answers.filter(
    (answer) => attempt.agents[answer.agent]?.newest === answer.revision,
  );
}

/** The agent at an index that is known to exist. */
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

/** The index of an agent id that is known to belong to the team. */
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
  isWhole: unpriced === undefined,
});

/** What a turn's calls have been charged so far, in US dollars. */
export const spentCost = ({ spentUsd, unpriced }: TurnState): Cost => ({
  usd: spentUsd,
  isWhole: unpriced === undefined,
});
