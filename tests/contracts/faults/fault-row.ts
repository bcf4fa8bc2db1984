import type { Format } from "../../../simulated/providers/dialect";
import type { Reply } from "../../../simulated/providers/reply";
import { ANTHROPIC } from "../anthropic-wire";
import { GEMINI } from "../gemini-wire";
import { OPENAI_CHAT } from "../openai-chat-wire";
import { OPENAI_RESPONSES } from "../openai-responses-wire";
import type { Wire } from "../wire";
import type { WireFault } from "./fault-server";

/** `goes on`: the agent still takes part in the decision. `fails`: only this agent fails; the others decide. */
export type End = "goes on" | "fails";

export type FaultRow = {
  fault: string;
  /** How many of the agent's calls it befalls, from the first on, or after so many. */
  calls: number;
  after?: number;
  /** The agent writes files before it answers, and what it has written by then is summed up. */
  works?: true;
  /** Of the bytes on the wire, or of what the model says. */
  make: (format: Format) => WireFault | Reply;
  /** Codes that failed calls and rounds may be logged with, and one does fail; none: none fails. */
  codes: readonly string[];
  /** Formats in which none needs to fail all the same. */
  unnoticed?: readonly Format[];
  end: End;
  /** What the faulty reply submits, because it is whole all the same; absent: nothing. */
  answer?: string;
  /** At most so many requests of the agent reach its provider. */
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
/** Three rounds of five tries: what a provider that is never well costs. */
export const MOST_REQUESTS = 15;
