import type { Format } from "../../../simulated/providers/dialect";
import type { Reply } from "../../../simulated/providers/reply";
import { ANTHROPIC } from "../anthropic-wire";
import { GEMINI } from "../gemini-wire";
import { OPENAI_CHAT } from "../openai-chat-wire";
import { OPENAI_RESPONSES } from "../openai-responses-wire";
import type { Wire } from "../wire";
import type { WireFault } from "./fault-server";

/**
 * `goes on` means that the agent still takes part in the decision. `fails` means that only this
 * agent fails and the others decide.
 */
export type End = "goes on" | "fails";

export type FaultRow = {
  fault: string;
  /** Number of calls of the agent that have this fault. */
  calls: number;
  /** Number of calls before the first faulty call. Default: 0. */
  after?: number;
  /** The agent writes files before it answers, and its conversation is summarized. */
  works?: true;
  /** A fault of the bytes on the wire, or a reply of the model. */
  make: (format: Format) => WireFault | Reply;
  /**
   * Codes that failed calls and rounds may have. At least one must fail. If empty, none may fail.
   */
  codes: readonly string[];
  /** Formats in which no call needs to fail. */
  unnoticed?: readonly Format[];
  end: End;
  /** The answer that the faulty reply submits. Omitted if it submits none. */
  answer?: string;
  /** Maximum number of requests of the agent that reach its provider. */
  requests?: number;
};

export const KEY = "canary-sk-0123456789-wire-faults";
export const WIRES: Readonly<Record<Format, Wire>> = {
  "openai-chat": OPENAI_CHAT,
  "openai-responses": OPENAI_RESPONSES,
  anthropic: ANTHROPIC,
  gemini: GEMINI,
};

export const isReply = (made: WireFault | Reply): made is Reply => !("kind" in made);

export const ALWAYS = Number.POSITIVE_INFINITY;
/**
 * Maximum number of requests to a provider that always fails: three rounds with five tries each.
 */
export const MOST_REQUESTS = 15;
