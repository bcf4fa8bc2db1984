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
 * The shell's environment: providers, tools, files and faults. One implementation is random, one
 * follows a script.
 */
export type World = {
  /**
   * Preparation time of a request, and an upper bound of its input tokens, constant per effect.
   * `heldMs`: reported wait for the backend's rate limits.
   */
  prepare(effect: Effect): { afterMs: number; inputTokens: number; heldMs?: number };
  call(effect: ModelCallEffect, seen: CallContext): CallOutcome;
  /** `news`: notifications during the call, at equal intervals. */
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
  /** A new listing while a tool runs; `null` if unchanged. */
  relisting(agent: number, rules: AgentRules): ToolsListing[] | null;
  /** The agent's workspace; `null` if unknown. */
  files(agent: number): WorkspaceFacts | null;
  /** Whether the process dies right after this commit. */
  diesNow(): boolean;
  /** How far the clock is behind when this input is read, in ms. */
  clockLagMs(): number;
  /** Delay of the alarm, in ms. */
  alarmLateMs(): number;
  /** Whether the end of an effect is delivered twice, or after it is no longer needed. */
  deliversTwice(): boolean;
  seed(): number;
};

/** The information that a model has, and the call's event in the log. */
export type CallContext = {
  state: SessionState;
  started: EventOf<"call.started">;
  inputTokens: number;
};

export type CallOutcome = {
  /** Until response headers arrive and the slot is free. */
  headersMs: number;
  /** Until the end, headers included. Infinity means that the call hangs. */
  afterMs: number;
  /** Text streamed by half-time. */
  partial: string | null;
  ends: { type: "reply"; reply: Reply } | { type: "failure"; failure: CallFailure };
  /** The provider's charge, however the call ends; `null` if nothing is charged. */
  charged: Usage | null;
};
