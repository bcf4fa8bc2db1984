import type { Effect, ModelCallEffect, ToolCallEffect } from "../src/coordination";
import { type Release, Slots } from "./slots";

/**
 * What the runner needs of the session. The three steps of a call: `prepare` asks the rules whether it may start (and tells
 * them its size), `perform` does it, and its end goes back to the rules through `settle`.
 */
export type Performer = {
  /** The call, ready to be sent; null if it is no longer owed or cannot be paid now. Journals `call.started`. */
  prepareCall(effect: ModelCallEffect): PreparedCall | null;
  /** A call that was under way before a restart and can be taken up; null if it must be made anew. */
  resumeCall(effect: ModelCallEffect): PreparedCall | null;
  /** Runs one of an agent's own tools from its journalled start to its journalled end. */
  performTool(effect: ToolCallEffect, signal: AbortSignal): Promise<void>;
  /** A fault of our own, in code that should not throw. */
  onFault(error: unknown): void;
};

export type PreparedCall = {
  /** Sends it; `onHeaders` when the response's headers are there. Never throws except `signal.reason`. */
  send(signal: AbortSignal, onHeaders: () => void): Promise<() => void>;
};

/**
 * Performs what is owed: each effect once, in parallel, few at a time until its headers have come. Aborts whatever the rules
 * no longer wait for. Holds no rule: what is owed and what is in flight is told by `sync`.
 */
export class EffectRunner {
  readonly #performer: Performer;
  readonly #slots: Slots;
  readonly #running = new Map<string, AbortController>();

  constructor(performer: Performer, slots: number) {
    this.#performer = performer;
    this.#slots = new Slots(slots);
  }

  /** `owed` and `inFlight` of the state as it is now. */
  sync(owed: readonly Effect[], inFlight: readonly string[], now: number): Promise<void>[] {
    const wanted = new Set([...inFlight, ...owed.map(({ id }) => id)]);
    for (const [id, abort] of this.#running) {
      if (!wanted.has(id)) abort.abort(new Error("no longer needed"));
    }
    const due = owed.filter((effect) => effect.type === "tool_call" || effect.notBefore <= now);
    return due.filter(({ id }) => !this.#running.has(id)).map((effect) => this.#run(effect));
  }

  /** Takes up a call that was under way before a restart; null if it cannot be. */
  resume(effect: ModelCallEffect): Promise<void> | null {
    const call = this.#performer.resumeCall(effect);
    return call && this.#run(effect, call);
  }

  async #run(effect: Effect, resumed: PreparedCall | null = null): Promise<void> {
    const abort = new AbortController();
    this.#running.set(effect.id, abort);
    let release: Release = () => {};
    let settle = () => {};
    try {
      release = await this.#slots.take(abort.signal);
      settle = await (resumed?.send(abort.signal, release) ?? this.#perform(effect, abort.signal, release));
    } catch (error) {
      if (!abort.signal.aborted) settle = () => this.#performer.onFault(error);
    } finally {
      release();
      this.#running.delete(effect.id);
    }
    settle();
  }

  async #perform(effect: Effect, signal: AbortSignal, release: Release): Promise<() => void> {
    if (effect.type === "tool_call") {
      await this.#performer.performTool(effect, signal);
      return () => {};
    }
    const call = this.#performer.prepareCall(effect);
    return call ? call.send(signal, release) : () => {};
  }
}
