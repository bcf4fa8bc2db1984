import type { Situation } from "../../../simulated/providers/situation";
import type { Ending, ModelReply } from "./model";
import type { Charge } from "./plan";

/**
 * The parts of a prompt before its history, in the order in which providers cache them. `names`:
 * those of the tools, sorted.
 */
export type PromptBeginning = {
  tools: string;
  system: string;
  announcement: string;
  names: string;
};

/** A request in a provider's record. Times are times of the simulated world. */
export type ReceivedRequest = {
  /** Index of the agent. */
  agent: number;
  /** Id of the model call. */
  call: string;
  /** Number of the relay that sent the request. */
  relay: number;
  /** When the request ended because its relay was lost; `null` if it did not. */
  relayLostAt: number | null;
  /** Asks for a new reply or for the rest of a background reply, or stops a background reply. */
  kind: "reply" | "rest" | "stop";
  /** `null` if the provider could not read the request. */
  stage: Situation["stage"] | null;
  /** `null` if the provider could not read the request. */
  beginning: PromptBeginning | null;
  body: string;
  headers: string;
  origin: string;
  sentAt: number;
  headersAt: number | null;
  endedAt: number | null;
  /** Time of the last chunk of the reply. */
  chunkAt: number | null;
  /** The delay that the provider requests before a retry; 0 if none. */
  retryAfterMs: number;
  /** The tool calls and decisions of the reply, in order. A cut call is incomplete. */
  calls: ModelReply["calls"];
  /** The reply's finish reason; `null` if there is no reply. */
  finish: Ending | null;
  /** The charge so far, which grows while the provider writes; `null` if nothing is charged. */
  charged: Charge | null;
  /** Why the provider would reject the request by its own rules; `null` if it would not. */
  rejection: string | null;
};
