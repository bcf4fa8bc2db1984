import type { Attachment } from "../attachments";
import type { Cost } from "../cost";
import type { DeltaKind, EndedBy, HandedFiles, LeftOut, Purpose, Usage } from "../events";
import type { Citation, HostedToolName } from "../hosted-tools";
import type { Budget, TeamRules } from "../team";
import type { Overrides } from "../turn-team";
import type { InputRequired, ToolProgress } from "../events/tool";

/**
 * The public view of a session: a projection of the log as plain data, so `structuredClone` and
 * JSON can copy it. Only the files of this folder change a view. Times are in Unix milliseconds.
 */
export type SessionView = {
  /** Empty until the first event. */
  sessionId: string;
  /** Number of the latest event in the view. Events up to this number are ignored. */
  lastSequence: number;
  /** `null` if `session.created` is not among the events. */
  createdAt: number | null;
  /** Time of the latest event; 0 before the first event. */
  updatedAt: number;
  /** `null` if `session.created` is not among the events. */
  rules: TeamRules | null;
  /** The turn that the next turn continues by default; `null` before the first turn. */
  head: number | null;
  turns: TurnView[];
};

export type TurnStatus = "running" | "completed" | "failed" | "cancelled";
export type Phase = "initial_answer" | "enforcement" | "presentation" | "done";

export type TurnView = {
  /** From 1. */
  number: number;
  /** Number of the turn that this one follows; `null` for the first turn and its repetitions. */
  parentTurn: number | null;
  /** `compact`: the turn only summarises the conversation so far. Omitted: a question. */
  kind?: "compact";
  question: string;
  /** How much of the earlier turns the agents see. Omitted: all of it in full. */
  history?: HistoryView;
  /** Omitted if none. */
  attachments?: readonly Attachment[];
  /** The turn's team with its overrides. Omitted if the turn uses the session's team unchanged. */
  rules?: TeamRules;
  /** Changes of the team that apply to this turn only. Omitted if none. */
  overrides?: Overrides;
  budget: Budget;
  startedAt: number;
  deadlineAt: number;
  /** `null` while the turn runs. */
  endedAt: number | null;
  status: TurnStatus;
  phase: Phase;
  /**
   * In the order of the config. Answers, votes and status describe the latest attempt. Tokens, cost
   * and uses of hosted tools describe the whole turn.
   */
  agents: AgentView[];
  attempts: AttemptView[];
  /** Id of the agent whose answer won the latest settled attempt. */
  winner: string | null;
  /** The final answer; `null` if there is none. */
  final: FinalView | null;
  /** `null` while the turn runs, and if it failed. */
  finishReason: EndedBy | null;
  /** Why the turn failed; `null` if it did not fail. */
  failure: {
    code: string;
    message: string;
    agents: { agent: string; code: string; message: string }[];
  } | null;
  /** As in `turn.cancelled`; `null` if the turn was not cancelled. */
  partial: { winner: string | null; answer: string | null; text: string | null } | null;
  /** Usage that providers reported. */
  usage: Usage;
  /** Tokens reserved by calls without a usage report: the maximum that they can have used. */
  reservedTokens: number;
  /** Cost of the parts with a known price. */
  costUsd: number;
  /** Whether every part has a known price. */
  isCostWhole: boolean;
  /**
   * Part of `costUsd` that calls without a usage report had reserved: the maximum that they can
   * have cost.
   */
  unreportedUsd: number;
  /** Set if a call without a usage report has no known price: `unreportedUsd` is then too low. */
  isUnreportedUnpriced?: true;
};

/**
 * `summary`: the last turn that the used summary covers; `null` if none is used. `writing`: the
 * agent that writes a new summary; `null` if none does. `written`: the summary that this turn has
 * written. `cut`: why the oldest texts are cut instead. The last two are `null` if there is none.
 */
export type HistoryView = {
  bytes: number;
  summary: number | null;
  writing: string | null;
  written: { agent: string; turns: number[]; text: string } | null;
  cut: { code: string; message: string } | null;
};

export type FinalView = { agent: string; attempt: number; label: string; text: string };

export type AttemptView = {
  /** Number of the attempt in the turn, from 1. */
  number: number;
  startedAt: number;
  /** Why the previous attempt's final answer was rejected; `null` in the first attempt. */
  feedback: { reason: string; instructions: string } | null;
  /** Persona by agent id. */
  personas: Record<string, string>;
  /** All answers in order. The answer with revision n has index n − 1. */
  answers: AnswerView[];
  /** Every vote that counted when it was cast, in order. */
  votes: VoteView[];
  /** How coordination ended; `null` until it ends. */
  settlement: Settlement | null;
  /** The final text of the attempt; `null` until it is complete. */
  presentation: PresentationView | null;
  /** Sources of the presenter's text, each address once. */
  citations: Citation[];
  /** Why the presenter rejected its final text; `null` if it did not. */
  restart: { agent: string; reason: string; instructions: string } | null;
  /** Ids of agents whose answer was cut by the end of coordination. Omitted if none. */
  cut?: string[];
  /**
   * State of the agents at the end of the attempt, set when the next attempt begins. `turn.agents`
   * has the state in the latest attempt.
   */
  agentEnds?: AgentEnd[];
};

/**
 * An agent at the end of an attempt. `error`: why the agent failed. `callError`: why its latest
 * call failed, if the agent itself did not.
 */
export type AgentEnd = {
  id: string;
  status: AgentStatus;
  error: { code: string; message: string } | null;
  callError: { code: string; message: string } | null;
};

export type AnswerView = {
  /** Id of the author. */
  agent: string;
  label: string;
  revision: number;
  content: string;
  origin: "tool" | "partial";
  snapshot: string | null;
  /** As in `answer.submitted`. */
  files?: HandedFiles;
  left_out?: LeftOut;
  at: number;
};

export type VoteView = {
  voter: string;
  label: string;
  revision: number;
  reason: string;
  at: number;
  /** Whether the vote still counts. */
  valid: boolean;
  /** Label of the answer that voided the vote; `null` if none did. */
  voidedBy: string | null;
};

export type Settlement = {
  winner: string | null;
  label: string | null;
  tally: Record<string, number>;
  tie: boolean;
  endedBy: EndedBy;
};

export type PresentationView = {
  agent: string;
  label: string;
  content: string;
  source: "presentation" | "answer" | "partial";
  fallback: string | null;
  /** Number of files that a presenter had changed when it was cut off. Omitted if it was not. */
  changed_files?: number;
  tools: string[];
};

export type AgentStatus =
  | "waiting"
  | "streaming"
  | "answered"
  | "voted"
  | "restarting"
  | "error"
  | "timeout"
  | "completed";

export type AgentView = {
  id: string;
  alias: string;
  /** Empty until known. */
  provider: string;
  model: string;
  status: AgentStatus;
  /** From 1; 0 before the first round. */
  round: number;
  /** Number of answers. */
  answers: number;
  /** Label of the latest answer; `null` before the first answer. */
  latestLabel: string | null;
  /** Number of files of the previous answer that the latest answer lacks. Omitted in older data. */
  leftOut?: number;
  /** The vote that counts now; `null` if there is none. */
  vote: { label: string; reason: string } | null;
  /** Number of votes that did not count, because the agent had not seen newer answers. */
  staleVotes: number;
  /** Number of times that the agent was shown newer answers or began another round. */
  restarts: number;
  /** Input and output tokens that providers reported. */
  reportedTokens: number;
  /** Tokens reserved by calls without a usage report: the maximum that they can have used. */
  reservedTokens: number;
  /** Cost of the parts with a known price. */
  costUsd: number;
  /** Whether every part has a known price. */
  isCostWhole: boolean;
  /** Number of uses by hosted tool. */
  hostedUses: Partial<Record<HostedToolName, number>>;
  /** The call in flight; `null` if there is none. */
  call: CallView | null;
  /** Whether the next call waits for the budget or a rate limit. Omitted if no call ever waited. */
  isPutOff?: boolean;
  /** Time of the next try of a failed call; `null` if no next try is due. */
  retryAt: number | null;
  /** Running calls of the agent's own tools. `progress`: omitted if the server reported none. */
  tools: { toolCall: string; name: string; progress?: ToolProgress }[];
  /** Latest request of a tool server for input by a person, in the latest attempt. */
  inputRequired: (InputRequired & { tool: string; at: number }) | null;
  /** Output of the agent's latest call so far; `null` before the first call. */
  stream: StreamView | null;
  lastError: { code: string; message: string; at: number } | null;
  /**
   * Why the latest call failed; `null` if it did not fail. Stays set if the agent drops out for
   * another reason, such as a time limit.
   */
  callError: { code: string; message: string; at: number } | null;
  /** Set if the agent dropped out: it failed, or it reached a cap and abstained. */
  out: "failed" | "abstained" | null;
  lastActivityAt: number;
};

export type CallView = {
  id: string;
  purpose: Purpose;
  /** Number of the try of this call, from 1. */
  try: number;
  startedAt: number;
  /** The amount that is charged if the outcome of the call stays unknown. */
  reserved: Cost & { tokens: number };
};

/**
 * Output of one call, by kind. `call`: id of the call. `latest`: kind of the newest piece; `null`
 * before the first piece. `tool`: name of the tool that the newest piece is for, if any.
 */
export type StreamView = {
  call: string;
  latest: DeltaKind | null;
  tool: string | null;
  /** Key of the tool call or hosted tool whose text is shown, by kind of output. */
  shown: Partial<Record<DeltaKind, string>>;
} & Record<DeltaKind, StreamedText>;

/** `text`: end of the output. `length`: length of the whole output in UTF-16 code units. */
export type StreamedText = { text: string; length: number };
