import { createHash } from "node:crypto";
import { abortable } from "../../../src/async/abort";
import { sleep } from "../../../src/async/sleep";
import { withTimeout } from "../../../src/async/timeout";
import type { Backend } from "../../../src/config/team";
import {
  type Asker,
  askToStart,
  EMPTY_QUEUE,
  leaveQueue,
  type RateQueue,
  settleCall,
} from "../../../src/rate-limits/rate-queue";
import { logError } from "../../../src/redaction/log";
import {
  HOLD_MS,
  type RateAnswer,
  type RateGateApi,
  type RateWish,
} from "../../rate-gate/rate-gate-api";

/** A call as its gate knows it, but for its id, which is made of the effect's. */
export type RatedCall = Omit<RateWish, "call">;

/**
 * What shares one quota at a provider: an address, a key and a model. Nobody can read the key out
 * of it.
 */
export function quotaOf({ baseUrl, model }: Backend, key: string): string {
  return `${baseUrl} ${model} ${createHash("sha256").update(key).digest("hex").slice(0, 16)}`;
}

/** A wait that is over sooner is nobody's news. */
const SHORT_MS = 1_000;
/** An answer that is later than this after it was due does not come. */
const LOST_AFTER_MS = 5_000;
/** A gate that was moved or restarted is back within this time. */
const PATIENCE_MS = 10_000;
const PAUSES_MS = [250, 500, 1_000, 2_000] as const;

type Options = {
  session: string;
  /** The tenant's gate, by a connection of its own each time: one that broke stays broken. */
  gate: () => RateGateApi;
  /** The session's time, unix ms. */
  now: () => number;
};

type Waiting = {
  signal: AbortSignal;
  /** Told once of a wait worth telling: when there may be room, unix ms. */
  onWait: (startsAt: number) => void;
};

/**
 * A session's calls before its tenant's rate gate: each waits there until it may start. Nothing is
 * kept: after a restart a call asks anew, and one that had been let in is let in again. While the
 * gate is out of reach the session keeps to the same limits by itself, as if it were the tenant's
 * only one.
 */
export class RateWaits {
  readonly #options: Options;
  /** Let in, by effect id, until it has ended. */
  readonly #admitted = new Map<string, RatedCall>();
  /** What was started without the gate. */
  readonly #alone = new Map<string, RateQueue>();
  /**
   * Calls that leave, by their ids, until the gate has heard it or could not be told: connections
   * keep no order among them, so one that asks anew before that could be let in and then be taken
   * for the one that left.
   */
  readonly #leaving = new Map<string, Promise<void>>();

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Returns once the call may start. Throws `signal.reason`, at once, if nobody waits for it any
   * more.
   */
  async start(effect: string, call: RatedCall, { signal, onWait }: Waiting): Promise<void> {
    signal.throwIfAborted();
    const wish = { ...call, call: this.#idOf(effect) };
    const wait = this.#wait(wish, { signal, onWait });
    try {
      await abortable(wait, signal);
      this.#admitted.set(effect, call);
    } catch (error) {
      if (signal.aborted) this.#leaves(wish, wait);
      throw error;
    }
  }

  /** A call that was let in is not sent: what it took is given back. */
  giveBack(effect: string): void {
    const call = this.#admitted.get(effect);
    if (!call) return;
    this.#admitted.delete(effect);
    this.#leaves({ ...call, call: this.#idOf(effect) });
  }

  /**
   * A call that was sent has ended, be it one that was let in before a restart. `tokens`: what it
   * took; null where nobody knows, then what was thought stands.
   */
  settle(effect: string, endpoint: string, tokens: number | null): void {
    this.#admitted.delete(effect);
    if (tokens === null) return;
    const call = this.#idOf(effect);
    this.#changeAlone(endpoint, (queue) => settleCall(queue, call, tokens));
    void this.#tell((gate) => gate.settle(endpoint, call, tokens));
  }

  #idOf(effect: string): string {
    return `${this.#options.session}_${effect}`;
  }

  /** `wait`: its waiting, if that has not ended yet. */
  #leaves(wish: RateWish, wait?: Promise<void>): void {
    const { call } = wish;
    const left = Promise.allSettled([this.#leave(wish), wait]).then(() => {
      if (this.#leaving.get(call) === left) this.#leaving.delete(call);
    });
    this.#leaving.set(call, left);
  }

  async #leave({ endpoint, call }: RateWish): Promise<void> {
    this.#changeAlone(endpoint, (queue) => leaveQueue(queue, call));
    await this.#tell((gate) => gate.leave(endpoint, call));
  }

  /** What is not heard is forgotten by the gate in time, so it is told once. Never throws. */
  async #tell(what: (gate: RateGateApi) => Promise<void>): Promise<void> {
    try {
      await answered(LOST_AFTER_MS, async () => what(this.#options.gate()));
    } catch (error) {
      this.#report(error);
    }
  }

  #changeAlone(endpoint: string, change: (queue: RateQueue) => RateQueue): void {
    const queue = this.#alone.get(endpoint);
    if (queue) this.#alone.set(endpoint, change(queue));
  }

  async #wait(wish: RateWish, { signal, onWait }: Waiting): Promise<void> {
    const leaving = this.#leaving.get(wish.call);
    if (leaving !== undefined) await leaving;
    const line: Line = { holdMs: SHORT_MS, failures: 0, failingSince: null };
    while (!signal.aborted) {
      const answer = await this.#ask(wish, line);
      if (signal.aborted) {
        // its leaving came before it asked
        if (answer && answer.type !== "left") await this.#leave(wish);
        return;
      }
      if (answer?.type === "start") return;
      if (answer?.type === "wait" && line.holdMs === SHORT_MS) onWait(answer.startsAt);
      if (answer?.type === "wait") line.holdMs = HOLD_MS;
    }
  }

  /** The gate's answer, or the session's own where there is none; null: ask again. */
  async #ask(wish: RateWish, line: Line): Promise<RateAnswer | null> {
    const { now, gate } = this.#options;
    try {
      const answer = await answered(line.holdMs + LOST_AFTER_MS, async () =>
        gate().start(wish, line.holdMs),
      );
      Object.assign(line, { failures: 0, failingSince: null });
      return answer;
    } catch (error) {
      line.failingSince ??= now();
      if (line.failures === 0) this.#report(error);
      const isLost = now() - line.failingSince >= PATIENCE_MS;
      const answer = isLost ? this.#askAlone(wish) : null;
      if (answer?.type !== "start")
        await sleep(PAUSES_MS[Math.min(line.failures, PAUSES_MS.length - 1)] ?? 0);
      line.failures += 1;
      return answer;
    }
  }

  #askAlone({ endpoint, call, limits, tokens }: RateWish): RateAnswer {
    const asker: Asker = { id: call, limits, tokens };
    const verdict = askToStart(
      this.#alone.get(endpoint) ?? EMPTY_QUEUE,
      asker,
      this.#options.now(),
    );
    this.#alone.set(endpoint, verdict.queue);
    return verdict.granted ? { type: "start" } : { type: "wait", startsAt: verdict.startsAt };
  }

  #report(error: unknown): void {
    logError("the rate gate was not reached", this.#options.session, error);
  }
}

/** How a call's asking goes. */
type Line = { holdMs: number; failures: number; failingSince: number | null };

/** Throws if the gate takes longer. */
const answered = <T>(ms: number, ask: () => Promise<T>): Promise<T> =>
  withTimeout(ms, ask, () => new Error(`no answer within ${ms} ms`));
