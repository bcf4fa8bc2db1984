import { createHash } from "node:crypto";
import { Chance } from "../../../simulated/chance";
import { Timeline } from "../world/timeline";

/** Timer functions that are replaced, because simulated code must not use real timers. */
const REPLACED = ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] as const;

/** The real `setImmediate`: runs a function after all pending microtasks. */
const runAfterMicrotasks = setImmediate;
const doNothing = (): void => undefined;

/**
 * A replacement of `AbortSignal.any`. Node's version keeps signals with listeners in memory, with
 * everything that a crashed simulated process referenced. Thousands of such processes would fill
 * the memory.
 */
function anyOf(signals: Iterable<AbortSignal>): AbortSignal {
  const any = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) any.abort(signal.reason);
    else signal.addEventListener("abort", () => any.abort(signal.reason), { once: true });
  }
  return any.signal;
}

/**
 * The only clock and the only source of randomness while a simulated session runs. Replaces
 * `Date.now`, timers, `Math.random` and `crypto.getRandomValues` of this process. Timers belong to
 * the running object and are lost with it. Events of the world around the object are on the
 * timeline. Setting the wall clock does not affect timers.
 */
export class VirtualTime {
  readonly timeline = new Timeline();
  readonly #chance: Chance;
  readonly #timers = new Map<number, () => void>();
  #lastId = 0;
  /** The wall clock minus the simulated time, in ms. */
  #offset = 0;
  /** Whether the process has crashed. Its code may still run, but cannot set timers. */
  #isDead = false;

  constructor(seed: number) {
    this.#chance = new Chance(seed ^ 0x51ed270b);
  }

  get now(): number {
    return this.timeline.now;
  }

  /** The object's wall clock. */
  get wall(): number {
    return this.timeline.now + this.#offset;
  }

  setClock(byMs: number): void {
    this.#offset += byMs;
  }

  /** Must be called when the process crashes. Cancels its timers. */
  dropTimers(): void {
    this.#isDead = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  /** Must be called when a new process starts. It can set timers again. */
  revive(): void {
    this.#isDead = false;
  }

  /** Waits until everything has run that does not need time to pass. */
  async settle(): Promise<void> {
    await new Promise<void>((resolve) => runAfterMicrotasks(resolve));
  }

  /**
   * Replaces the machine's clock, timers, random source and console. Returns a function that
   * restores them.
   */
  install(): () => void {
    const originals = Object.fromEntries(REPLACED.map((name) => [name, globalThis[name]]));
    const { random } = Math;
    const { now } = Date;
    const { log, error } = console;
    const { any } = AbortSignal;
    AbortSignal.any = anyOf;
    Object.assign(globalThis, this.#timerFunctions());
    Date.now = () => this.wall;
    Math.random = () => this.#chance.unit() * 0.999_999;
    Object.defineProperty(crypto, "getRandomValues", { value: this.#fill, configurable: true });
    Object.defineProperty(crypto.subtle, "digest", { value: digestNow, configurable: true });
    Object.assign(console, { log: doNothing, error: doNothing });
    return () => {
      Object.assign(globalThis, originals);
      AbortSignal.any = any;
      Date.now = now;
      Math.random = random;
      Reflect.deleteProperty(crypto, "getRandomValues");
      Reflect.deleteProperty(crypto.subtle, "digest");
      Object.assign(console, { log, error });
    };
  }

  readonly #fill = <T extends ArrayBufferView>(view: T): T => {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = this.#chance.int(0, 255);
    return view;
  };

  #timerFunctions() {
    const clear = (timer: unknown): void => {
      if (timer === undefined || timer === null) return;
      const id = Number(timer);
      this.#timers.get(id)?.();
      this.#timers.delete(id);
    };
    return {
      setTimeout: (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        this.#start(() => run(...args), ms, false),
      setInterval: (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        this.#start(() => run(...args), ms, true),
      clearTimeout: clear,
      clearInterval: clear,
    };
  }

  #start(run: () => void, ms: number, isInterval: boolean) {
    this.#lastId += 1;
    const id = this.#lastId;
    const waitMs = Math.max(ms, isInterval ? 1 : 0);
    const fire = (): void => {
      this.#timers.delete(id);
      if (isInterval) arm();
      run();
    };
    const arm = (): void => {
      this.#timers.set(id, this.timeline.schedule(this.timeline.now + waitMs, fire));
    };
    if (!this.#isDead) arm();
    return timerHandle(id);
  }
}

/** SHA-256 on this thread. Other threads complete in an order that is not deterministic. */
async function digestNow(_: string, data: ArrayBufferView): Promise<ArrayBuffer> {
  const digest = createHash("sha256")
    .update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
    .digest();
  return digest.buffer.slice(digest.byteOffset, digest.byteOffset + digest.byteLength);
}

/** A timer object like Node's: it can be converted to its id. */
function timerHandle(id: number) {
  const handle = {
    ref: () => handle,
    unref: () => handle,
    hasRef: () => true,
    [Symbol.toPrimitive]: () => id,
  };
  return handle;
}
