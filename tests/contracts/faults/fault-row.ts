import type { Format } from "../../../simulated/providers/dialect";
import type { Reply } from "../../../simulated/providers/reply";
import { ANTHROPIC } from "../anthropic-wire";
import { GEMINI } from "../gemini-wire";
import { OPENAI_CHAT } from "../openai-chat-wire";
import { OPENAI_RESPONSES } from "../openai-responses-wire";
import type { Wire } from "../wire";
import type { WireFault } from "./fault-server";

/**
 * `goes on`: the agent still takes part in the decision. `fails`: only this agent fails, and the
 * others decide.
 */
export type End = "goes on" | "fails";

export type FaultRow = {
  fault: string;
  /**
   * Number of the agent's calls with this fault, counted from the first call, or from the call
   * behind `after`.
   */
  calls: number;
  after?: number;
  /** The agent writes files before it answers, and its conversation is summarized. */
  works?: true;
  /** A fault of the bytes on the wire, or a reply of the model. */
  make: (format: Format) => WireFault | Reply;
  /** Codes allowed for failed calls and rounds; at least one must fail. If empty, none may fail. */
  codes: readonly string[];
  /** Formats in which no call needs to fail. */
  unnoticed?: readonly Format[];
  end: End;
  /**
   * The answer that the faulty reply submits, if it is complete nevertheless. Omitted if it submits
   * none.
   */
  answer?: string;
  /** Limit on the agent's requests that reach its provider. */
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
/** Requests to a provider that always fails: three rounds of five tries. */
export const MOST_REQUESTS = 15;
