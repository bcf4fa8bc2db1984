import type { Attachment } from "../attachments";
import type { Cost } from "../cost";
import type { DeltaKind, EndedBy, HandedFiles, LeftOut, Purpose, Usage } from "../events";
import type { Citation, HostedToolName } from "../hosted-tools";
import type { Budget, TeamRules } from "../team";
import type { InputRequired, ToolProgress } from "../events/tool";

/**
 * What people and programs see of a session: a projection of the log, plain data (`structuredClone` and JSON keep it whole).
 * `index.ts` and the folds beside it are the only writers; everything else reads.
 */
export type SessionView = {
  /** Empty until the first event. */
  sessionId: string;
  /** Everything up to here is in the view; events up to it are ignored. */
  lastSequence: number;
  createdAt: number | null;
  updatedAt: number;
  /** null where the events began after `session.created`. */
  rules: TeamRules | null;
  turns: TurnView[];
};

export type TurnStatus = "running" | "completed" | "failed" | "cancelled";
export type Phase = "initial_answer" | "enforcement" | "presentation" | "done";

export type TurnView = {
  number: number;
  parentTurn: number | null;
  question: string;
  /** Absent: none. */
  attachments?: readonly Attachment[];
  budget: Budget;
  startedAt: number;
  deadlineAt: number;
  endedAt: number | null;
  status: TurnStatus;
  phase: Phase;
  /**
   * In the order of the config. Answers, votes and status are those of the latest attempt; tokens, cost and uses of hosted tools
   * those of the turn.
   */
  agents: AgentView[];
  attempts: AttemptView[];
  /** The agent whose answer won the latest attempt that settled. */
  winner: string | null;
  final: FinalView | null;
  finishReason: EndedBy | null;
  failure: {
    code: string;
    message: string;
    agents: { agent: string; code: string; message: string }[];
  } | null;
  partial: { winner: string | null; answer: string | null; text: string | null } | null;
  /** As providers reported it. */
  usage: Usage;
  /** Of calls that reported no usage: what they had reserved, the most they can have taken. */
  reservedTokens: number;
  /** The sum of all parts with a known price. */
  costUsd: number;
  /** Whether there is no part without a known price. */
  isCostWhole: boolean;
  /** The part of `costUsd` nobody reported: reservations of calls that were cut off, so the most they can have cost. */
  unreportedUsd: number;
  /** A call that reported nothing has no known price, so `unreportedUsd` is not all; absent: each has one. */
  isUnreportedUnpriced?: true;
};

export type FinalView = { agent: string; attempt: number; label: string; text: string };

export type AttemptView = {
  number: number;
  startedAt: number;
  feedback: { reason: string; instructions: string } | null;
  /** Agent → persona. */
  personas: Record<string, string>;
  /** Revision n lies at n − 1. */
  answers: AnswerView[];
  /** Every vote that counted when it was cast, in order. */
  votes: VoteView[];
  settlement: Settlement | null;
  presentation: PresentationView | null;
  /** Sources of what its presenter wrote, each address once. */
  citations: Citation[];
  /** Why its presenter rejected it. */
  restart: { agent: string; reason: string; instructions: string } | null;
  /** Agents that the end of coordination stopped before an answer of theirs was whole; absent: none. */
  cut?: string[];
  /** The agents as the attempt left them, set when the next attempt begins; `turn.agents` has those of the latest attempt. */
  agentEnds?: AgentEnd[];
};

/** An agent at the end of an attempt. `error`: why it failed, `callError`: why its latest call failed though it did not. */
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
  /** As in its event. */
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
  /** The answer that voided it. */
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
  /** Absent: none. */
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
  /** Counts from 1; 0 before the first. */
  round: number;
  answers: number;
  latestLabel: string | null;
  /** How many files its latest answer leaves out of the one before; absent: stored before this field. */
  leftOut?: number;
  /** The vote that counts now. */
  vote: { label: string; reason: string } | null;
  staleVotes: number;
  /** How often it was given newer answers or began a fresh round. */
  restarts: number;
  /** Input and output, as providers reported them. */
  reportedTokens: number;
  /** Of calls that reported no usage: what they had reserved, the most they can have taken. */
  reservedTokens: number;
  /** The sum of all parts with a known price. */
  costUsd: number;
  /** Whether there is no part without a known price. */
  isCostWhole: boolean;
  /** How often it used tools that its provider runs. */
  hostedUses: Partial<Record<HostedToolName, number>>;
  /** The call in flight. */
  call: CallView | null;
  /** Whether its next call waits for budget, or for room within its backend's limits; absent: no call ever did. */
  isPutOff?: boolean;
  /** Unix ms of the next try of a failed call. */
  retryAt: number | null;
  /** The agent's own tools that are running, and how far they are by their servers' word; absent: nobody has said. */
  tools: { toolCall: string; name: string; progress?: ToolProgress }[];
  /** What a tool's server wanted of a person, the latest of the attempt. */
  inputRequired: (InputRequired & { tool: string; at: number }) | null;
  /** What its latest call has written so far. */
  stream: StreamView | null;
  lastError: { code: string; message: string; at: number } | null;
  /** Why its latest call failed, if it did; kept when the agent is out for another reason, such as time or money. */
  callError: { code: string; message: string; at: number } | null;
  /** Why it takes no further part: failed, or abstained at a cap. */
  out: "failed" | "abstained" | null;
  lastActivityAt: number;
};

export type CallView = {
  id: string;
  purpose: Purpose;
  try: number;
  startedAt: number;
  /** What it is charged if its fate stays unknown. */
  reserved: Cost & { tokens: number };
};

/** `latest` is the kind of the newest piece, `tool` the name of the tool it is for. */
export type StreamView = {
  call: string;
  latest: DeltaKind | null;
  tool: string | null;
  /** Which tool call the arguments are of, or which hosted tool its input, that the view shows. */
  shown: Partial<Record<DeltaKind, string>>;
} & Record<DeltaKind, StreamedText>;

/** `text` is the tail of it; `length` all that was written, in UTF-16 code units. */
export type StreamedText = { text: string; length: number };
