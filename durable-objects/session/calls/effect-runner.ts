import {
  type Effect,
  type ModelCallEffect,
  type ToolCallEffect,
  type ToolListingEffect,
  triedCall,
} from "../../../src/coordination";
import { ProviderError } from "../../../src/providers/provider";
import { type Release, Slots } from "./semaphore";

/**
 * What the runner needs of the session. The steps of a call: `admit` waits for its backend's limits, `prepare` asks the rules
 * whether it may start (and tells them its size), `send` does it, and its end goes back to the rules through `settle`.
 */
export type Performer = {
  /**
   * Ends once its backend's limits let the call start; it holds no slot meanwhile. Throws `signal.reason`. null: there are no limits
   * to wait for.
   */
  admitCall(effect: ModelCallEffect, signal: AbortSignal): Promise<void> | null;
  /** Nothing more comes of the call: if it was let in and not sent, it gives back what it took. May come for any call. */
  dropCall(effect: ModelCallEffect): void;
  /** The call, ready to be sent; null if it is no longer owed or cannot be paid now. Journals `call.started`. */
  prepareCall(effect: ModelCallEffect): PreparedCall | null;
  /** A call that was under way before a restart and can be taken up; null if it must be made anew. */
  resumeCall(effect: ModelCallEffect): PreparedCall | null;
  /** Runs one of an agent's own tools from its journalled start to its journalled end. Enters only if it asks a server. */
  performTool(effect: ToolCallEffect, signal: AbortSignal, enter: Enter): Promise<void>;
  /** Asks an agent's tool servers what they have, and tells the rules. It has places of its own to wait for headers in. */
  listTools(effect: ToolListingEffect, signal: AbortSignal): Promise<void>;
  /** A fault of our own, in code that should not throw. */
  onFault(error: unknown): void;
};

export type PreparedCall = {
  /** Sends it. Never throws except `signal.reason`. */
  send(signal: AbortSignal, slot: CallSlot): Promise<() => void>;
};

/** What a call has to do with the slot it holds until its headers are there. */
export type Slot = {
  /** The response's headers are there, or will not come. */
  onHeaders: () => void;
  /** Aborted with the ProviderError that the call fails with, should it have to go before its headers came. */
  giveWay: AbortSignal;
};

export type CallSlot = Slot & {
  /** The request is put together and leaves: the next one may be made. */
  onSent: () => void;
};

/**
 * Takes a slot, once, when all that comes before the request is done; it is given back with the end of the effect at the latest.
 * Throws `signal.reason`.
 */
export type Enter = () => Promise<Slot>;

type Options = {
  slots: Slots;
  /** How long a call keeps its slot without headers while others wait for one; that of `slots`. */
  patienceMs: number;
};

/**
 * Performs what is owed: each effect once, in parallel, few at a time until its headers have come. Aborts whatever the rules
 * no longer wait for. Holds no rule: what is owed and what is in flight is told by `sync`.
 */
export class EffectRunner {
  readonly #performer: Performer;
  readonly #slots: Slots;
  /** What a request is made of may be several times its size, so one is made at a time; that takes no time but the processor's. */
  readonly #making: Slots;
  readonly #patienceMs: number;
  readonly #running = new Map<string, AbortController>();
  /** Calls one of whose tries gave way: those that follow may take as long as the provider's time limits allow. */
  readonly #gaveWay = new Set<string>();

  constructor(performer: Performer, { slots, patienceMs }: Options) {
    this.#performer = performer;
    this.#slots = slots;
    this.#making = new Slots(1, patienceMs);
    this.#patienceMs = patienceMs;
  }

  /** `owed` and `inFlight` of the state as it is now. */
  sync(owed: readonly Effect[], inFlight: readonly string[], now: number): Promise<void>[] {
    const wanted = new Set([...inFlight, ...owed.map(({ id }) => id)]);
    for (const [id, abort] of this.#running) {
      if (!wanted.has(id)) abort.abort(new Error("no longer needed"));
    }
    if (wanted.size === 0) this.#gaveWay.clear();
    const due = owed.filter((effect) => effect.type !== "model_call" || effect.notBefore <= now);
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
    const way = new AbortController();
    let release: Release = () => {};
    let settle = () => {};
    const enter: Enter = async () => {
      const mayGiveWay = this.#mayGiveWay(effect, resumed);
      release = await this.#slots.take(
        abort.signal,
        mayGiveWay ? () => this.#cut(effect, way) : null,
      );
      return { onHeaders: release, giveWay: way.signal };
    };
    try {
      const wait =
        effect.type === "model_call" && !resumed
          ? this.#performer.admitCall(effect, abort.signal)
          : null;
      if (wait !== null) await wait;
      settle = await this.#perform(effect, { resumed, signal: abort.signal, enter });
    } catch (error) {
      if (!abort.signal.aborted) settle = () => this.#performer.onFault(error);
    } finally {
      if (effect.type === "model_call") this.#performer.dropCall(effect);
      release();
      this.#running.delete(effect.id);
    }
    settle();
  }

  /** What a call taken up asks for is paid already, and a tool may have done half its work. */
  #mayGiveWay({ type, id }: Effect, resumed: PreparedCall | null): boolean {
    return type === "model_call" && resumed === null && !this.#gaveWay.has(triedCall(id));
  }

  #cut({ id }: Effect, way: AbortController): void {
    this.#gaveWay.add(triedCall(id));
    const seconds = this.#patienceMs / 1_000;
    const message = `No response came for ${seconds} s while other calls waited, so this one gave way to them.`;
    way.abort(new ProviderError("transient", "timeout", message));
  }

  async #perform(effect: Effect, { resumed, signal, enter }: Performing): Promise<() => void> {
    if (effect.type === "tool_call") {
      await this.#performer.performTool(effect, signal, enter);
      return () => {};
    }
    if (effect.type === "tool_listing") {
      await this.#performer.listTools(effect, signal);
      return () => {};
    }
    const slot = await enter();
    const onSent = await this.#making.take(signal, null);
    try {
      const call = resumed ?? this.#performer.prepareCall(effect);
      return call ? await call.send(signal, { ...slot, onSent }) : () => {};
    } finally {
      onSent();
    }
  }
}

type Performing = { resumed: PreparedCall | null; signal: AbortSignal; enter: Enter };
