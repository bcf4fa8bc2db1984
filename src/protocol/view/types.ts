import type { Attachment } from "../attachments";
import type { Cost } from "../cost";
import type { DeltaKind, EndedBy, HandedFiles, LeftOut, Purpose, Usage } from "../events";
import type { Citation, HostedToolName } from "../hosted-tools";
import type { Budget, TeamRules } from "../team";
import type { InputRequired, ToolProgress } from "../events/tool";

/**
 * The public view of a session: a projection of the log as plain data (safe for `structuredClone`
 * and JSON). Only `index.ts` and the folds beside it write to it.
 */
export type SessionView = {
  /** Empty until the first event. */
  sessionId: string;
  /** Number of the latest event in the view. Events up to this number are ignored. */
  lastSequence: number;
  createdAt: number | null;
  updatedAt: number;
  /** `null` if `session.created` is not among the events. */
  rules: TeamRules | null;
  turns: TurnView[];
};

export type TurnStatus = "running" | "completed" | "failed" | "cancelled";
export type Phase = "initial_answer" | "enforcement" | "presentation" | "done";

export type TurnView = {
  number: number;
  parentTurn: number | null;
  question: string;
  /** Omitted if none. */
  attachments?: readonly Attachment[];
  budget: Budget;
  startedAt: number;
  deadlineAt: number;
  endedAt: number | null;
  status: TurnStatus;
  phase: Phase;
  /**
   * In the order of the config. Answers, votes and status are of the latest attempt; tokens, cost
   * and uses of hosted tools are of the whole turn.
   */
  agents: AgentView[];
  attempts: AttemptView[];
  /** Id of the agent whose answer won the latest settled attempt. */
  winner: string | null;
  final: FinalView | null;
  finishReason: EndedBy | null;
  failure: {
    code: string;
    message: string;
    agents: { agent: string; code: string; message: string }[];
  } | null;
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
   * Part of `costUsd` without a usage report: reservations of calls that were cut off, so the
   * maximum that they can have cost.
   */
  unreportedUsd: number;
  /** Set if a call without a usage report has no known price: `unreportedUsd` is then too low. */
  isUnreportedUnpriced?: true;
};

export type FinalView = { agent: string; attempt: number; label: string; text: string };

export type AttemptView = {
  number: number;
  startedAt: number;
  feedback: { reason: string; instructions: string } | null;
  /** Persona by agent id. */
  personas: Record<string, string>;
  /** Revision n has index n − 1. */
  answers: AnswerView[];
  /** Every vote that counted when it was cast, in order. */
  votes: VoteView[];
  settlement: Settlement | null;
  presentation: PresentationView | null;
  /** Sources of the presenter's text, each address once. */
  citations: Citation[];
  /** Why the presenter rejected its final text. */
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
  valid: boolean;
  /** Label of the answer that voided the vote. */
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
  /** Omitted if none. */
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
  answers: number;
  latestLabel: string | null;
  /** Number of files of its previous answer that the latest one lacks. Omitted in older data. */
  leftOut?: number;
  /** The vote that counts now. */
  vote: { label: string; reason: string } | null;
  staleVotes: number;
  /** Number of times that it was shown newer answers or began another round. */
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
  /** The call in flight. */
  call: CallView | null;
  /** Whether its next call waits for the budget or a rate limit. Omitted if none ever waited. */
  isPutOff?: boolean;
  /** Time of the next try of a failed call, in Unix milliseconds. */
  retryAt: number | null;
  /** Running calls of the agent's own tools. `progress`: omitted if the server reported none. */
  tools: { toolCall: string; name: string; progress?: ToolProgress }[];
  /** Latest request of a tool server for input by a person, in the attempt. */
  inputRequired: (InputRequired & { tool: string; at: number }) | null;
  /** Output of its latest call so far. */
  stream: StreamView | null;
  lastError: { code: string; message: string; at: number } | null;
  /** Why its latest call failed. Kept if the agent drops out for another reason, such as time. */
  callError: { code: string; message: string; at: number } | null;
  /** Set if the agent dropped out: it failed, or it reached a cap and abstained. */
  out: "failed" | "abstained" | null;
  lastActivityAt: number;
};

export type CallView = {
  id: string;
  purpose: Purpose;
  try: number;
  startedAt: number;
  /** Charge if the outcome of the call stays unknown. */
  reserved: Cost & { tokens: number };
};

/** `latest`: kind of the newest piece. `tool`: name of its tool. */
export type StreamView = {
  call: string;
  latest: DeltaKind | null;
  tool: string | null;
  /** For each kind: the tool call or hosted tool whose text is shown. */
  shown: Partial<Record<DeltaKind, string>>;
} & Record<DeltaKind, StreamedText>;

/** `text`: end of the output. `length`: length of all output, in UTF-16 code units. */
export type StreamedText = { text: string; length: number };
