import {
  type Effect,
  inFlight,
  type InputBody,
  type ModelCallEffect,
  runningTurn,
  type SessionState,
  type ToolCallEffect,
  type ToolListingEffect,
} from "../../../src/coordination";
import type { EventOf, SessionEvent, Usage } from "../../../src/protocol/events";
import type { AgentRules } from "../../../src/protocol/team";
import type { LedgerEntry, NumberedEvent } from "../../../checker";
import type { ReachedTool } from "../../../checker/types";
import { priceOf } from "../../../checker/price";
import { allowCompaction, canCompact, toSummary } from "./compacting";
import type { Timeline } from "./timeline";
import type { CallOutcome, World } from "./world";

/** Number of model calls and tool calls that may wait for their first byte at the same time. */
const SLOTS = 4;

type RunningEffect = { stop: () => void };

/** The part of the shell that the performer uses. */
export type Host = {
  readonly log: readonly NumberedEvent[];
  readonly ledger: LedgerEntry[];
  readonly tools: ReachedTool[];
  readonly waitsAsked: Map<string, number>;
  readonly timeline: Timeline;
  readonly now: number;
  state: SessionState;
  owed(): Effect[];
  input(body: InputBody): void;
  append(events: readonly SessionEvent[]): void;
};

/**
 * Performs effects. It waits until an effect is due and a slot is free, starts the effect, and
 * passes its end to the shell as an input.
 */
export class Performer {
  readonly #shell: Host;
  readonly #world: World;
  /** Effects that are being prepared or wait for a slot, by id. */
  readonly #pending = new Map<string, RunningEffect>();
  readonly #running = new Map<string, RunningEffect>();
  /** Due effects that wait for a slot. */
  #queue: Effect[] = [];
  #usedSlots = 0;
  /** The usage that running calls have reported so far, by effect id. */
  readonly #reported = new Map<string, Usage>();
  /**
   * The text that agents have streamed so far, by turn, attempt and agent. A crash does not clear
   * it, because the service stores such text in the table of deltas.
   */
  readonly #partials = new Map<string, string>();

  constructor(shell: Host, world: World) {
    this.#shell = shell;
    this.#world = world;
  }

  /** Aborts effects that are no longer needed, and schedules effects that are owed. */
  sync(): void {
    const owed = this.#shell.owed();
    const wanted = new Set([...inFlight(this.#shell.state), ...owed.map(({ id }) => id)]);
    for (const [id, running] of this.#running) if (!wanted.has(id)) this.#stop(id, running);
    for (const effect of owed) {
      if (this.#pending.has(effect.id) || this.#running.has(effect.id)) continue;
      const due = effect.type === "model_call" ? effect.notBefore : this.#shell.now;
      const stop = this.#shell.timeline.schedule(due, () => this.#enqueue(effect));
      this.#pending.set(effect.id, { stop });
    }
  }

  /** The agent's streamed text; `null` unless the agent has no answer or is the presenter. */
  partial(index: number): string | null {
    const attempt = runningTurn(this.#shell.state)?.attempt;
    const isUsable = attempt?.agents[index]?.answers === 0 || index === attempt?.presenter;
    return isUsable ? (this.#partials.get(this.#partialKey(index)) ?? null) : null;
  }

  /** The usage that a running call has reported; `null` if there is no report. */
  usage(call: string): Usage | null {
    return this.#reported.get(call) ?? null;
  }

  /** Must be called when the process crashes. Providers still charge for the aborted calls. */
  crash(): void {
    this.abortAll();
    for (const { stop } of this.#pending.values()) stop();
    this.#pending.clear();
    this.#queue = [];
    this.#usedSlots = 0;
  }

  abortAll(): void {
    for (const [id, running] of this.#running) this.#stop(id, running);
  }

  #stop(id: string, running: RunningEffect): void {
    this.#running.delete(id);
    this.#reported.delete(id);
    running.stop();
  }

  #enqueue(effect: Effect): void {
    this.#queue.push(effect);
    this.#fillSlots();
  }

  #fillSlots(): void {
    while (this.#usedSlots < SLOTS) {
      const effect = this.#queue.shift();
      if (!effect) return;
      this.#usedSlots += 1;
      const { afterMs, inputTokens, heldMs = 0 } = this.#world.prepare(effect);
      if (heldMs > 0) this.#reportWait(effect, heldMs, inputTokens);
      const stop = this.#shell.timeline.schedule(this.#shell.now + afterMs, () =>
        this.#start(effect, inputTokens),
      );
      this.#pending.set(effect.id, { stop });
    }
  }

  /**
   * Reports that a call waits for its backend's rate limits. The report may arrive too late, and
   * must then have no effect.
   */
  #reportWait(effect: Effect, ms: number, inputTokens: number): void {
    const { timeline, now } = this.#shell;
    if (effect.type !== "model_call") return;
    timeline.schedule(now, () =>
      this.#shell.input({ type: "call_held", effect: effect.id, until: now + ms, inputTokens }),
    );
  }

  /** Starts a prepared effect, if it is still owed. */
  #start(effect: Effect, inputTokens: number): void {
    this.#pending.delete(effect.id);
    if (effect.type === "tool_listing") return this.#list(effect);
    const logLength = this.#shell.log.length;
    if (effect.type === "model_call") {
      const compaction = canCompact(this.#shell.state, effect)
        ? { compactionTokens: inputTokens }
        : {};
      this.#shell.input({ type: "call_ready", effect: effect.id, inputTokens, ...compaction });
    } else this.#shell.input({ type: "tool_ready", effect: effect.id });
    // The effect is not in flight if it was no longer owed, or if a crash during the input has
    // settled it as interrupted and freed all slots.
    if (!inFlight(this.#shell.state).includes(effect.id)) return this.#freeSlot();
    if (effect.type === "tool_call") return this.#runTool(effect);
    const started = this.#shell.log
      .slice(logLength)
      .find((event) => event.type === "call.started" && event.call === effect.id);
    if (started?.type === "call.started") this.#runCall(effect, { started, inputTokens });
  }

  #freeSlot(): void {
    this.#usedSlots = Math.max(0, this.#usedSlots - 1);
    this.#fillSlots();
  }

  /**
   * Lists the tools of an agent's servers. Nothing is logged until the servers have responded, so
   * the listing is still owed after a crash.
   */
  #list(effect: ToolListingEffect): void {
    const { afterMs, servers } = this.#world.listing(effect, this.#rulesOf(effect.agent));
    const cancel = this.#shell.timeline.schedule(this.#shell.now + afterMs, () => {
      this.#running.delete(effect.id);
      this.#shell.input({ type: "tools_listed", agent: effect.agent, servers });
    });
    this.#running.set(effect.id, { stop: cancel });
    this.#freeSlot();
  }

  #rulesOf(agent: number): AgentRules {
    const rules = this.#shell.state.turn?.rules.agents[agent];
    if (!rules) throw new Error(`no agent at index ${agent}`);
    return rules;
  }

  #runTool(effect: ToolCallEffect): void {
    const { afterMs, outcome, notifications } = this.#world.tool(effect);
    const started = this.#shell.log.at(-1);
    if (started?.type === "tool.started") {
      const { turn, attempt, agent, round, tool_call, name } = started;
      this.#shell.tools.push({
        key: effect.id,
        turn,
        attempt,
        agent,
        round,
        tool_call,
        name,
        answered: false,
      });
    }
    for (const [nth, notification] of notifications.entries()) {
      const at = this.#shell.now + Math.round((afterMs * (nth + 1)) / (notifications.length + 1));
      // Notifications are not cancelled with the call, because late ones must have no effect.
      this.#shell.timeline.schedule(at, () =>
        this.#shell.input({ type: "tool_notified", effect: effect.id, notification }),
      );
    }
    const request = this.#shell.tools.findLast(({ key }) => key === effect.id);
    const cancel = this.#shell.timeline.schedule(this.#shell.now + afterMs, () => {
      this.#running.delete(effect.id);
      if (request) request.answered = outcome !== "unknown";
      const servers = this.#world.relisting(effect.agent, this.#rulesOf(effect.agent));
      if (servers) this.#shell.input({ type: "tools_listed", agent: effect.agent, servers });
      const accesses = [
        { operation: "write", path: `/workspace/${effect.name}`, refused: null },
      ] as const;
      this.#shell.input({ type: "tool_settled", effect: effect.id, outcome, accesses });
    });
    this.#running.set(effect.id, { stop: cancel });
    this.#freeSlot();
  }

  #runCall(
    effect: ModelCallEffect,
    { started, inputTokens }: { started: EventOf<"call.started">; inputTokens: number },
  ): void {
    const { state } = this.#shell;
    const plainOutcome = this.#world.call(effect, { state, started, inputTokens });
    const outcome = started.compacts
      ? toSummary(plainOutcome)
      : canCompact(state, effect)
        ? allowCompaction(plainOutcome)
        : plainOutcome;
    const { timeline, waitsAsked } = this.#shell;
    if (outcome.ends.type === "failure")
      waitsAsked.set(effect.id, outcome.ends.failure.retryAfterMs ?? 0);
    const from = timeline.now;
    let holdsSlot = true;
    const release = (): void => {
      if (holdsSlot) this.#freeSlot();
      holdsSlot = false;
    };
    const cancels = [
      timeline.schedule(from + Math.min(outcome.headersMs, outcome.afterMs), release),
      timeline.schedule(from + Math.min(outcome.afterMs, 2 * outcome.headersMs) / 2, () =>
        this.#stream(effect, outcome),
      ),
      timeline.schedule(from + outcome.afterMs, () => {
        this.#running.delete(effect.id);
        this.#reported.delete(effect.id);
        this.#end(effect, outcome);
      }),
    ];
    const stop = (): void => {
      for (const cancel of cancels) cancel();
      this.#charge(effect.id, outcome.charged);
      if (this.#world.deliversTwice())
        timeline.schedule(timeline.now + 1, () => this.#deliver(effect, outcome));
      release();
    };
    this.#running.set(effect.id, { stop });
  }

  /** Appends streamed text to the log as a delta. The rules do not see it. */
  #stream(effect: ModelCallEffect, { partial, charged }: CallOutcome): void {
    if (partial === null) return;
    if (charged) this.#reported.set(effect.id, charged);
    const turn = runningTurn(this.#shell.state);
    const id = turn?.rules.agents[effect.agent]?.id;
    if (!turn || id === undefined) return;
    this.#partials.set(this.#partialKey(effect.agent), partial);
    const item = {
      agent: id,
      round: effect.round,
      call: effect.id,
      kind: "text" as const,
      offset: 0,
      text: partial,
    };
    const at = Math.max(this.#shell.now, this.#shell.state.lastAt);
    this.#shell.append([{ type: "stream.delta", at, turn: turn.number, items: [item] }]);
  }

  #end(effect: ModelCallEffect, outcome: CallOutcome): void {
    this.#charge(effect.id, outcome.charged);
    this.#deliver(effect, outcome);
    if (this.#world.deliversTwice()) this.#deliver(effect, outcome);
  }

  #deliver(effect: ModelCallEffect, { ends }: CallOutcome): void {
    if (ends.type === "reply")
      this.#shell.input({ type: "call_replied", effect: effect.id, reply: ends.reply });
    else this.#shell.input({ type: "call_failed", effect: effect.id, failure: ends.failure });
  }

  #charge(call: string, usage: Usage | null): void {
    if (!usage) return;
    const turn = this.#shell.state.turn;
    const started = this.#shell.log.findLast(
      (event) => event.type === "call.started" && event.call === call,
    );
    const agent =
      started?.type === "call.started"
        ? turn?.rules.agents.find(({ id }) => id === started.agent)
        : undefined;
    this.#shell.ledger.push({
      at: this.#shell.now,
      turn: turn?.number ?? 0,
      call,
      tokens: usage.input_tokens + usage.output_tokens,
      usd: priceOf(agent, usage),
    });
  }

  #partialKey(agent: number): string {
    const turn = this.#shell.state.turn;
    return `${turn?.number}/${turn?.attempt.number}/${agent}`;
  }
}
