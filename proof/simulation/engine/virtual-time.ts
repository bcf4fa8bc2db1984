import { createHash } from "node:crypto";
import { Chance } from "../../../simulated/chance";
import { Timeline } from "../world/timeline";

/** Globals that simulated code must not take from the real machine. */
const REPLACED = ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] as const;

const nextTurn = setImmediate;
const silence = (): void => undefined;

/**
 * `AbortSignal.any` as specified. Node keeps a signal with listeners alive, with everything that a
 * dead process referenced. Thousands of simulated processes would fill the memory.
 */
function anyOf(signals: Iterable<AbortSignal>): AbortSignal {
  const one = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) one.abort(signal.reason);
    else signal.addEventListener("abort", () => one.abort(signal.reason), { once: true });
  }
  return one.signal;
}

/**
 * The only clock and random source while a simulated session runs. Replaces `Date.now`, timers,
 * `Math.random` and `crypto.getRandomValues` of this process. Timers belong to the running object
 * and die with it; events of the world are on the timeline. Setting the wall clock does not affect
 * timers.
 */
export class VirtualTime {
  readonly timeline = new Timeline();
  readonly #chance: Chance;
  readonly #timers = new Map<number, () => void>();
  #ids = 0;
  #offset = 0;
  /** Code that still runs of a dead process sets no timers. */
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

  /** Memory is lost, timers included. */
  dropTimers(): void {
    this.#isDead = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  /** A new process starts. */
  revive(): void {
    this.#isDead = false;
  }

  /** Runs everything that needs no time to pass. */
  async settle(): Promise<void> {
    await new Promise<void>((settled) => nextTurn(settled));
  }

  /**
   * Replaces the machine's clock, timers, random source and console. Returns a function that
   * restores them.
   */
  install(): () => void {
    const kept = Object.fromEntries(REPLACED.map((name) => [name, globalThis[name]]));
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
    Object.assign(console, { log: silence, error: silence });
    return () => {
      Object.assign(globalThis, kept);
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

  #start(run: () => void, ms: number, again: boolean) {
    this.#ids += 1;
    const id = this.#ids;
    const wait = Math.max(ms, again ? 1 : 0);
    const ring = (): void => {
      this.#timers.delete(id);
      if (again) arm();
      run();
    };
    const arm = (): void => {
      this.#timers.set(id, this.timeline.schedule(this.timeline.now + wait, ring));
    };
    if (!this.#isDead) arm();
    return timerHandle(id);
  }
}

/** SHA-256 without the machine's threads, whose completion order is not deterministic. */
async function digestNow(_: string, data: ArrayBufferView): Promise<ArrayBuffer> {
  const digest = createHash("sha256")
    .update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
    .digest();
  return digest.buffer.slice(digest.byteOffset, digest.byteOffset + digest.byteLength);
}

/** Like Node's timers: an object that converts to its number. */
function timerHandle(id: number) {
  const handle = {
    ref: () => handle,
    unref: () => handle,
    hasRef: () => true,
    [Symbol.toPrimitive]: () => id,
  };
  return handle;
}
