import type {
  CallFailure,
  Effect,
  ModelCallEffect,
  Reply,
  SessionState,
  ToolCallEffect,
  ToolListingEffect,
  WorkspaceFacts,
} from "../../../src/coordination";
import type { EventOf, ToolsListing, Usage } from "../../../src/protocol/events";
import type { AgentRules } from "../../../src/protocol/team";
import type { ToolNotification } from "../../../src/protocol/events/tool";

/**
 * The shell's environment: providers, tools, files and faults. There are two implementations: one
 * is random, the other follows a script.
 */
export type World = {
  /**
   * The preparation of a request. `afterMs`: its duration. `inputTokens`: an upper bound, always
   * the same for an effect. `heldMs`: how long the call waits for its backend's rate limits.
   */
  prepare(effect: Effect): { afterMs: number; inputTokens: number; heldMs?: number };
  call(effect: ModelCallEffect, context: CallContext): CallOutcome;
  /** `notifications`: the notifications during the call, at equal intervals. */
  tool(effect: ToolCallEffect): {
    afterMs: number;
    outcome: "ok" | "error" | "unknown";
    notifications: readonly ToolNotification[];
  };
  /** The response of the agent's tool servers, and its delay. */
  listing(
    effect: ToolListingEffect,
    rules: AgentRules,
  ): { afterMs: number; servers: ToolsListing[] };
  /** A new listing at the end of a tool call; `null` if the listing did not change. */
  relisting(agent: number, rules: AgentRules): ToolsListing[] | null;
  /** The agent's workspace; `null` if unknown. */
  files(agent: number): WorkspaceFacts | null;
  /** Whether the process crashes just after this commit. */
  crashesNow(): boolean;
  /** By how much the clock is behind when an input is processed. */
  clockLagMs(): number;
  /** The delay of the alarm. */
  alarmLateMs(): number;
  /** Whether the end of an effect is delivered twice, or although the effect was aborted. */
  deliversTwice(): boolean;
  /** The seed of the rules' random draws for an input. */
  seed(): number;
};

/** The state and the event of a started call, from which its outcome is derived. */
export type CallContext = {
  state: SessionState;
  started: EventOf<"call.started">;
  inputTokens: number;
};

/** The outcome of a model call. */
export type CallOutcome = {
  /** The time until response headers arrive and the slot is free. */
  headersMs: number;
  /** The time from the start to the end of the call. Infinity means that the call hangs. */
  afterMs: number;
  /** The text that the call streams before its end; `null` if there is none. */
  partial: string | null;
  ends: { type: "reply"; reply: Reply } | { type: "failure"; failure: CallFailure };
  /** The provider's charge, however the call ends; `null` if nothing is charged. */
  charged: Usage | null;
};
