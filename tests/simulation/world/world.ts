import type { CallFailure, Effect, ModelCallEffect, Reply, SessionState, ToolCallEffect } from "../../../src/coordination";
import type { EventOf, Usage } from "../../../src/protocol/events";

/** What surrounds the shell: providers, tools, files and mishaps. One implementation is random, one follows a script. */
export type World = {
  /** How long a request takes to put together, and an upper bound of its input. The same for the same effect. */
  prepare(effect: Effect): { afterMs: number; inputTokens: number };
  call(effect: ModelCallEffect, seen: Seen): CallOutcome;
  tool(effect: ToolCallEffect): { afterMs: number; outcome: "ok" | "error" | "unknown" };
  /** Files in the agent's workspace; null where it has none. */
  files(agent: number): number | null;
  /** Whether the process dies right after this commit. */
  diesNow(): boolean;
  /** How far the clock is behind when this input is read, in ms. */
  clockLagMs(): number;
  /** How much later than asked the alarm comes. */
  alarmLateMs(): number;
  /** Whether an effect's end is told twice, or still told after nobody waits for it any more. */
  tellsTwice(): boolean;
  seed(): number;
};

/** What a model could know when it is asked, and what the log says about the call. */
export type Seen = { state: SessionState; started: EventOf<"call.started">; inputTokens: number };

export type CallOutcome = {
  /** Until response headers come, and the slot is free again. */
  headersMs: number;
  /** Until the end, headers included. Infinity: it hangs. */
  afterMs: number;
  /** What it has streamed half-way. */
  partial: string | null;
  ends: { type: "reply"; reply: Reply } | { type: "failure"; failure: CallFailure };
  /** What the provider charges, however the call ends; null: nothing. */
  charged: Usage | null;
};
