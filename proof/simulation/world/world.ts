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

/** What surrounds the shell: providers, tools, files and mishaps. One implementation is random, one follows a script. */
export type World = {
  /**
   * How long a request takes to put together, and an upper bound of its input, the same for the same effect. `heldMs`: how long it is
   * said to wait for its backend's limits.
   */
  prepare(effect: Effect): { afterMs: number; inputTokens: number; heldMs?: number };
  call(effect: ModelCallEffect, seen: Seen): CallOutcome;
  /** `news`: what it tells people on the way, at even distances. */
  tool(effect: ToolCallEffect): {
    afterMs: number;
    outcome: "ok" | "error" | "unknown";
    news: readonly ToolNotification[];
  };
  /** What the agent's tool servers say, and when. */
  listing(
    effect: ToolListingEffect,
    rules: AgentRules,
  ): { afterMs: number; servers: ToolsListing[] };
  /** What they say anew while a tool runs; null: nothing. */
  relisting(agent: number, rules: AgentRules): ToolsListing[] | null;
  /** The agent's workspace; null: not known. */
  files(agent: number): WorkspaceFacts | null;
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
