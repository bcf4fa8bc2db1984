import { type Effect, type ModelCallEffect, callIdPrefix } from "../coordination";
import { ProviderError } from "../providers/provider";
import type { AcquireSlot, Performer, PreparedCall, SlotSource } from "./ports";

type Options = {
  slots: SlotSource;
  building: SlotSource;
  maxHoldMs: number;
  /** Called for an internal error, in code that should not throw. */
  onFault: (error: unknown) => void;
};

/**
 * Performs owed effects: each effect once, in parallel, with a limit on requests that wait for
 * headers. Aborts effects that the rules no longer wait for. Contains no rules: the caller of
 * `sync` passes the owed effects and the effects in flight.
 */
export class EffectRunner {
  readonly #performer: Performer;
  readonly #options: Options;
  readonly #running = new Map<string, AbortController>();
  /**
   * Calls that have released a slot early in one try. Their later tries may take as long as the
   * provider's time limits allow.
   */
  readonly #yielded = new Set<string>();

  constructor(performer: Performer, options: Options) {
    this.#performer = performer;
    this.#options = options;
  }

  /** `owed` and `inFlight` of the current state. */
  sync(owed: readonly Effect[], inFlight: readonly string[], now: number): Promise<void>[] {
    const wanted = new Set([...inFlight, ...owed.map(({ id }) => id)]);
    for (const [id, abort] of this.#running) {
      if (!wanted.has(id)) abort.abort(new Error("no longer needed"));
    }
    if (wanted.size === 0) this.#yielded.clear();
    const due = owed.filter((effect) => effect.type !== "model_call" || effect.notBefore <= now);
    return due.filter(({ id }) => !this.#running.has(id)).map((effect) => this.#run(effect));
  }

  /** Resumes a call that was in flight before a restart; `null` if that is not possible. */
  resume(effect: ModelCallEffect): Promise<void> | null {
    const call = this.#performer.resumeCall(effect);
    return call && this.#run(effect, call);
  }

  async #run(effect: Effect, resumed: PreparedCall | null = null): Promise<void> {
    const abort = new AbortController();
    this.#running.set(effect.id, abort);
    const yieldController = new AbortController();
    let release = () => {};
    let settle = () => {};
    const acquireSlot: AcquireSlot = async () => {
      const mayYield = this.#mayYield(effect, resumed);
      release = await this.#options.slots.acquire(
        abort.signal,
        mayYield ? () => this.#cut(effect, yieldController) : null,
      );
      return { onHeaders: release, yieldSignal: yieldController.signal };
    };
    try {
      const wait =
        effect.type === "model_call" && !resumed
          ? this.#performer.admitCall(effect, abort.signal)
          : null;
      if (wait !== null) await wait;
      settle = await this.#perform(effect, { resumed, signal: abort.signal, acquireSlot });
    } catch (error) {
      if (!abort.signal.aborted) settle = () => this.#options.onFault(error);
    } finally {
      if (effect.type === "model_call") this.#performer.dropCall(effect);
      release();
      this.#running.delete(effect.id);
    }
    settle();
  }

  /**
   * Whether the effect may be aborted for other calls. Not a resumed call, which is already paid,
   * and not a tool, which may have done half its work.
   */
  #mayYield({ type, id }: Effect, resumed: PreparedCall | null): boolean {
    return type === "model_call" && resumed === null && !this.#yielded.has(callIdPrefix(id));
  }

  #cut({ id }: Effect, yieldController: AbortController): void {
    this.#yielded.add(callIdPrefix(id));
    const seconds = this.#options.maxHoldMs / 1_000;
    const message = `No response after ${seconds} s while other calls waited for a slot, so the call was aborted.`;
    yieldController.abort(new ProviderError("transient", "timeout", message));
  }

  async #perform(
    effect: Effect,
    { resumed, signal, acquireSlot }: EffectContext,
  ): Promise<() => void> {
    if (effect.type === "tool_call") {
      await this.#performer.performTool(effect, signal, acquireSlot);
      return () => {};
    }
    if (effect.type === "tool_listing") {
      await this.#performer.listTools(effect, signal);
      return () => {};
    }
    const slot = await acquireSlot();
    const onSent = await this.#options.building.acquire(signal, null);
    try {
      const call = resumed ?? this.#performer.prepareCall(effect);
      return call ? await call.send(signal, { ...slot, onSent }) : () => {};
    } finally {
      onSent();
    }
  }
}

type EffectContext = {
  resumed: PreparedCall | null;
  signal: AbortSignal;
  acquireSlot: AcquireSlot;
};
