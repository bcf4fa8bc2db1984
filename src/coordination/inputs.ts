import type {
  Decision,
  CompactedPart,
  EventOf,
  FailureClass,
  FileAccess,
  GrantedWorkspace,
  LeftOut,
  PinnedContext,
  StopReason,
  ToolsListing,
  Usage,
} from "../protocol/events";
import type { Citation, HostedUse } from "../protocol/hosted-tools";
import type { AgentRules, Budget, TeamRules } from "../protocol/team";
import type { Overrides } from "../protocol/turn-team";
import type { ToolNotification } from "../protocol/events/tool";
import type { HistoryFacts } from "./history/plan";
import type { Problem, QuestionAttachments } from "./state";

/**
 * Something that happened outside the rules. An input is plain data: `structuredClone` must work on
 * it. Time and a seed are part of every input, so that a log can be reproduced.
 */
export type Input = InputBody & {
  /** Unix ms. */
  at: number;
  /** Seed of all random draws that this input causes. */
  seed: number;
};

export type InputBody =
  /**
   * A user starts a turn. `rules` is the turn's team without overrides; `null` is that of the
   * session, which its first turn sets. `parentTurn` is the turn to continue; `null` starts without
   * earlier turns. If `timeoutMs` is `null`, the team's time limit applies.
   */
  | {
      type: "turn_requested";
      rules: TeamRules | null;
      question: string;
      attached?: QuestionAttachments | null;
      parentTurn: number | null;
      budget: Budget;
      timeoutMs: number | null;
      /** Current uploads of the user. Omitted if there are none. */
      contexts?: readonly PinnedContext[];
      /** Contexts that a request has granted to all agents. Omitted if there are none. */
      grants?: EventOf<"turn.started">["grants"];
      /** Agents that have a workspace only because of `grants`. Omitted if there are none. */
      grantedWorkspaces?: readonly GrantedWorkspace[];
      /** `compact`: only summarise the conversation so far. Omitted: a question. */
      kind?: "compact";
      /** Sizes of the turns that the turn continues. Omitted if there are none. */
      history?: HistoryFacts | null;
      /** Changes of the team for this turn. Omitted if there are none. */
      overrides?: Overrides;
      /** The agents to which `overrides` gives another model. Omitted if there are none. */
      overriddenAgents?: readonly AgentRules[];
      /** Id of the request in the session's queue. Omitted if it was not queued. */
      queueId?: string;
      /** Why the turn fails at its start: a queued turn that was refused. Omitted if it runs. */
      refused?: Problem;
      /** What the refused request named and the turn does not have. Omitted if there is nothing. */
      requested?: EventOf<"turn.started">["requested"];
    }
  /** A user moves the head to an earlier or later turn. Has no effect while a turn runs. */
  | { type: "head_requested"; turn: number }
  | { type: "cancel_requested" }
  /**
   * An owed call waits for its backend's rate limits until about `until` (unix ms). `inputTokens`
   * has the same meaning as in `call_ready`.
   */
  | { type: "call_held"; effect: string; until: number; inputTokens: number }
  /**
   * The call can be sent now: a slot is free and the request is built. `inputTokens` is an upper
   * bound of its input tokens. `compactionTokens` is the bound for the request that summarizes the
   * conversation first; omitted if no summary is needed or possible.
   */
  | { type: "call_ready"; effect: string; inputTokens: number; compactionTokens?: number }
  | { type: "call_replied"; effect: string; reply: Reply }
  | { type: "call_failed"; effect: string; failure: CallFailure }
  /** An owed tool call can start now. */
  | { type: "tool_ready"; effect: string }
  /** A running tool reports progress or asks a person for input. */
  | { type: "tool_notified"; effect: string; notification: ToolNotification }
  | {
      type: "tool_settled";
      effect: string;
      outcome: "ok" | "error" | "unknown";
      /** Message of a tool whose outcome is unknown. Omitted if there is none. */
      message?: string;
      /** File accesses of the tool, including refused ones. Omitted if there are none. */
      accesses?: readonly FileAccess[];
    }
  /** Tools of the agent's servers: the first listing, or a later change. */
  | { type: "tools_listed"; agent: number; servers: readonly ToolsListing[] }
  /** An effect was in flight when the service stopped. The service has restarted since. */
  | { type: "effect_interrupted"; effect: string }
  /** Only time has passed. */
  | { type: "clock" };

/**
 * A complete reply with its tool calls parsed. Which fields can be set depends on the call's
 * purpose.
 */
export type Reply = {
  stopReason: StopReason;
  /** `null` if the provider reported no usage; then the whole reservation is charged. */
  usage: Usage | null;
  /** Uses of hosted tools, in order. Omitted if there are none. */
  hosted?: readonly HostedUse[];
  /** Sources of the text. Omitted if there are none. */
  citations?: readonly Citation[];
  text: string;
  tools: readonly { toolCall: string; name: string }[];
  decisions: readonly Decision[];
  /** The presenter's verdict on its own text; `null` if the reply has none. */
  verdict: { restart: false } | { restart: true; reason: string; instructions: string } | null;
  /**
   * Whether the text can be stored as a file if it is too long for a final text. Omitted if it
   * cannot.
   */
  storable?: boolean;
  /** Personas by the alias of their agent; `null` if the reply has none. */
  personas: Readonly<Record<string, string>> | null;
  /**
   * The part of the conversation that the text replaces. Only a summary call has it; omitted if the
   * call returned no summary.
   */
  dropped?: CompactedPart;
};

/**
 * The facts about an agent's workspace that the rules need. "The round" is the agent's open round,
 * or its last round if no round is open.
 */
export type WorkspaceFacts = {
  /** Number of files. */
  files: number;
  /**
   * Whether tools of the round wrote, moved or deleted a file. Writing equal bytes is a change too.
   */
  changed: boolean;
  /**
   * Number of files that stay because the round changed no file. These are the files of the agent's
   * previous answer in the attempt, or else those from the start. Omitted if the round changed a
   * file.
   */
  kept?: number;
  /**
   * Files of the agent's previous answer in the attempt that are missing although the round did not
   * delete them. Omitted if there are none.
   */
  leftOut?: LeftOut;
  /**
   * Sorted paths of existing files that tools of the round wrote; files of contexts as
   * `/contexts/…`. Omitted if there are none.
   */
  written?: readonly string[];
  /**
   * Number of paths that tools of the round wrote, moved or deleted, contexts included. Omitted if
   * there are none.
   */
  edits?: number;
  /** An unused file name for a long final text. Omitted if this name is `final.txt`. */
  textFile?: string;
};

export type CallFailure = {
  class: FailureClass;
  code: string;
  message: string;
  /** The wait that the provider asks for; `null` if it asks for none. */
  retryAfterMs: number | null;
  /** Usage reported before the failure; `null` if none was reported. */
  usage: Usage | null;
  /** False if it is certain that no model processed the call; then nothing is charged. */
  reached: boolean;
  /** Set for a call that was too long: whether a part of its conversation can be summarized. */
  compactible?: boolean;
};
