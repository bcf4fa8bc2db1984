import type {
  Decision,
  Dropped,
  FailureClass,
  FileAccess,
  LeftOut,
  PinnedContext,
  StopReason,
  ToolsListing,
  Usage,
} from "../protocol/events";
import type { Citation, HostedUse } from "../protocol/hosted-tools";
import type { Budget, TeamRules } from "../protocol/team";
import type { ToolNews } from "../protocol/tool-news";
import type { Attached } from "./state";

/**
 * What happened outside the rules. Plain data: `structuredClone` must work on it. Time and a seed
 * are part of every input, so that a log can be reproduced.
 */
export type Input = InputBody & {
  /** Unix ms. */
  at: number;
  /** Seed of all random draws that this input causes. */
  seed: number;
};

export type InputBody =
  /** `rules` only with the first turn of a session. */
  | {
      type: "turn_requested";
      rules: TeamRules | null;
      question: string;
      attached?: Attached | null;
      parentTurn: number | null;
      budget: Budget;
      timeoutMs: number | null;
      /** What the user uploaded, as it is now; absent: nothing. */
      contexts?: readonly PinnedContext[];
    }
  | { type: "cancel_requested" }
  /** A call that is owed waits for its backend's limits, till about `until` (unix ms); `inputTokens` as in `call_ready`. */
  | { type: "call_held"; effect: string; until: number; inputTokens: number }
  /**
   * A slot is free and the request is put together; `inputTokens` is an upper bound. `compactionTokens`: the same of the request that
   * sums the conversation up, where that is wanted and possible.
   */
  | { type: "call_ready"; effect: string; inputTokens: number; compactionTokens?: number }
  | { type: "call_replied"; effect: string; reply: Reply }
  | { type: "call_failed"; effect: string; failure: CallFailure }
  | { type: "tool_ready"; effect: string }
  /** What a tool that runs tells people. */
  | { type: "tool_told"; effect: string; news: ToolNews }
  | {
      type: "tool_settled";
      effect: string;
      outcome: "ok" | "error" | "unknown";
      /** What a tool of unknown outcome said; absent: nothing. */
      message?: string;
      /** What it did to files, or tried to; absent: nothing. */
      accesses?: readonly FileAccess[];
    }
  /** What tool servers have for the agent at this index, at first or anew. */
  | { type: "tools_listed"; agent: number; servers: readonly ToolsListing[] }
  /** Found started and not settled at boot. */
  | { type: "effect_interrupted"; effect: string }
  | { type: "clock" };

/** A complete reply, its tool calls told apart. Which fields can be set depends on what the call was for. */
export type Reply = {
  stopReason: StopReason;
  /** null: the provider did not say; the reservation is charged. */
  usage: Usage | null;
  /** What hosted tools did, in order; absent: nothing. */
  hosted?: readonly HostedUse[];
  /** Sources of the text; absent: none. */
  citations?: readonly Citation[];
  text: string;
  tools: readonly { toolCall: string; name: string }[];
  decisions: readonly Decision[];
  /** Of the presenter about its own text; null if the reply held none. */
  verdict: { restart: false } | { restart: true; reason: string; instructions: string } | null;
  /** Whether the text can be kept as a file, where it is too long for a final text; absent: it cannot. */
  storable?: boolean;
  /** By alias. */
  personas: Readonly<Record<string, string>> | null;
  /** Of a call that sums up: what of the conversation gives way to its text; absent: it gave no summary. */
  dropped?: Dropped;
};

/**
 * An agent's workspace, as the rules need to know it. The round is the agent's open round, or its
 * last round if none is open.
 */
export type WorkspaceFacts = {
  /** Files in it. */
  files: number;
  /** Whether tools of the round wrote, moved or deleted a file. Equal bytes are a change too. */
  changed: boolean;
  /** Files that stay if it changed none: of the agent's previous answer in the attempt, else those it began with. Absent: it did. */
  kept?: number;
  /** Files of the agent's previous answer in the attempt that are missing and that the round did not delete. Absent: none. */
  leftOut?: LeftOut;
  /** Paths of the files that tools of the round wrote and that are there, sorted; of contexts as `/contexts/…`. Absent: none. */
  written?: readonly string[];
  /** How many paths tools of the round wrote, moved or deleted, those of contexts too. Absent: none. */
  edits?: number;
  /** The free name for the file of a long final text. Absent: `final.txt`. */
  textFile?: string;
};

export type CallFailure = {
  class: FailureClass;
  code: string;
  message: string;
  retryAfterMs: number | null;
  usage: Usage | null;
  /** false: it is certain that no model worked on it, so nothing is charged. */
  reached: boolean;
  /** Of a call that was too long: part of its conversation could be summed up. */
  compactible?: boolean;
};
