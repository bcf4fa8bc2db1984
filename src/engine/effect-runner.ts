import { type Effect, type ModelCallEffect, callIdPrefix } from "../coordination";
import { timeoutError } from "../providers/provider";
import type {
  AcquireSlot,
  Performer,
  PreparedCall,
  RelaySlot,
  RequestMemorySource,
  SlotSource,
} from "./ports";

type Options = {
  slots: SlotSource<RelaySlot>;
  /** See the options of `Engine`. */
  building: SlotSource<() => void>;
  memory: RequestMemorySource;
  maxHoldMs: number;
  /** Called with an error that should not occur. */
  onFault: (error: unknown) => void;
};

/** The reason of an abort. One object for all, because an error keeps what its stack refers to. */
const NO_LONGER_NEEDED = new Error("no longer needed");

/**
 * Performs owed effects in parallel, each effect once. The number of requests that wait for
 * response headers is limited. Effects that the rules no longer wait for are aborted. This class
 * contains no rules: the caller of `sync` passes the owed effects and the effects in flight.
 */
export class EffectRunner {
  readonly #performer: Performer;
  readonly #options: Options;
  readonly #running = new Map<string, AbortController>();
  /**
   * Calls of which one try had to yield its slot. Their later tries need not yield: they may take
   * as long as the provider's time limits allow.
   */
  readonly #yielded = new Set<string>();

  constructor(performer: Performer, options: Options) {
    this.#performer = performer;
    this.#options = options;
  }

  /**
   * Starts owed effects that are due, and aborts effects that are neither owed nor in flight.
   * `owed` and `inFlight` are those of the current state; `now` is in unix ms.
   */
  sync(owed: readonly Effect[], inFlight: readonly string[], now: number): Promise<void>[] {
    const neededIds = new Set([...inFlight, ...owed.map(({ id }) => id)]);
    for (const [id, abort] of this.#running) {
      if (!neededIds.has(id)) abort.abort(NO_LONGER_NEEDED);
    }
    if (neededIds.size === 0) this.#yielded.clear();
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
    const releases: (() => void)[] = [];
    const release = () => {
      for (const releaseOne of releases.splice(0)) releaseOne();
    };
    let settle = () => {};
    const mayYield = this.#mayYield(effect, resumed);
    const onYield = mayYield ? () => this.#abortForOthers(effect, yieldController) : null;
    const acquireSlot: AcquireSlot = async () => {
      const slot = await this.#options.slots.acquire(abort.signal, onYield);
      releases.push(slot.release);
      return { relay: slot.relay, onHeaders: release, yieldSignal: yieldController.signal };
    };
    const holdMemory = async (bytes: number): Promise<void> => {
      releases.push(await this.#options.memory.hold(bytes, abort.signal, onYield));
    };
    try {
      const admission =
        effect.type === "model_call" && !resumed
          ? this.#performer.admitCall(effect, abort.signal)
          : null;
      if (admission !== null) await admission;
      const { signal } = abort;
      settle = await this.#perform(effect, { resumed, signal, acquireSlot, holdMemory });
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
   * Whether the effect may be aborted for other calls. A resumed call may not, because it is
   * already paid; a tool may not, because it may have done a part of its work.
   */
  #mayYield({ type, id }: Effect, resumed: PreparedCall | null): boolean {
    return type === "model_call" && resumed === null && !this.#yielded.has(callIdPrefix(id));
  }

  #abortForOthers({ id }: Effect, yieldController: AbortController): void {
    this.#yielded.add(callIdPrefix(id));
    const seconds = this.#options.maxHoldMs / 1_000;
    const message = `No response after ${seconds} s while other calls waited for a slot, so the call was aborted.`;
    yieldController.abort(timeoutError(message));
  }

  async #perform(
    effect: Effect,
    { resumed, signal, acquireSlot, holdMemory }: EffectContext,
  ): Promise<() => void> {
    if (effect.type === "tool_call") {
      const report = await this.#performer.performTool(effect, signal, acquireSlot);
      return report ?? (() => {});
    }
    if (effect.type === "tool_listing") {
      await this.#performer.listTools(effect, signal);
      return () => {};
    }
    const slot = await acquireSlot();
    const releaseBuilding = await this.#options.building.acquire(signal, null);
    try {
      const call = resumed ?? this.#performer.prepareCall(effect);
      const onBuilt = async (bytes: number): Promise<void> => {
        await holdMemory(bytes);
        releaseBuilding();
      };
      return call ? await call.send(signal, { ...slot, onBuilt }) : () => {};
    } finally {
      releaseBuilding();
    }
  }
}

type EffectContext = {
  resumed: PreparedCall | null;
  signal: AbortSignal;
  acquireSlot: AcquireSlot;
  /** Waits until there is memory for a request of this size. Released with the slot. */
  holdMemory: (bytes: number) => Promise<void>;
};
