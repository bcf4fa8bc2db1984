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
  type RateRequest,
} from "../../rate-gate/rate-gate-api";

/** A call as its gate receives it, but without the id, which contains the effect's id. */
export type RatedCall = Omit<RateRequest, "call">;

/**
 * The id of a quota at a provider: one for each address, key and model. The id contains a hash of
 * the key instead of the key.
 */
export function quotaOf({ baseUrl, model }: Backend, key: string): string {
  return `${baseUrl} ${model} ${createHash("sha256").update(key).digest("hex").slice(0, 16)}`;
}

/** Waits that are shorter than this are not reported. */
const REPORTED_WAIT_MS = 1_000;
/** An answer that is late by this time counts as lost. */
const LOST_AFTER_MS = 5_000;
/**
 * A gate that fails for this long counts as unreachable. A gate that was moved or restarted answers
 * again sooner.
 */
const GATE_LIMIT_MS = 10_000;
/** Pauses between requests to a gate that fails; the last one repeats. */
const PAUSES_MS = [250, 500, 1_000, 2_000] as const;

type Options = {
  session: string;
  /** The tenant's gate. Returns a new stub each time, because a broken stub stays broken. */
  gate: () => RateGateApi;
  /** Unix ms, by the session's clock. */
  now: () => number;
};

type WaitOptions = {
  signal: AbortSignal;
  /** Called once if the wait is long. `startsAt`: when the call may probably start, unix ms. */
  onWait: (startsAt: number) => void;
};

/**
 * Admits a session's calls through its tenant's rate gate: each call waits until it may start.
 * Nothing is stored. After a restart each call asks the gate again; a call that was admitted before
 * is admitted again. While the gate is unreachable, the session applies the same limits itself, as
 * if the tenant had no other session.
 */
export class RateWaits {
  readonly #options: Options;
  /** Admitted calls that have not ended, by effect id. */
  readonly #admitted = new Map<string, RatedCall>();
  /** The session's own queues, by endpoint; used while the gate is unreachable. */
  readonly #ownQueues = new Map<string, RateQueue>();
  /**
   * Calls whose `leave` is being sent, by call id. A new `start` of the same call must wait for the
   * `leave`: requests can overtake each other, and the gate would then remove the new call.
   */
  readonly #leaving = new Map<string, Promise<void>>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Returns once the call may start. Throws `signal.reason` as soon as the signal is aborted. */
  async start(effect: string, call: RatedCall, { signal, onWait }: WaitOptions): Promise<void> {
    signal.throwIfAborted();
    const request = { ...call, call: this.#idOf(effect) };
    const wait = this.#wait(request, { signal, onWait });
    try {
      await abortable(wait, signal);
      this.#admitted.set(effect, call);
    } catch (error) {
      if (signal.aborted) this.#startLeaving(request, wait);
      throw error;
    }
  }

  /** Releases the share of an admitted call that was not sent. */
  release(effect: string): void {
    const call = this.#admitted.get(effect);
    if (!call) return;
    this.#admitted.delete(effect);
    this.#startLeaving({ ...call, call: this.#idOf(effect) });
  }

  /**
   * Records that a sent call has ended (also one admitted before a restart). `tokens` is its actual
   * usage; `null` keeps the estimate.
   */
  settle(effect: string, endpoint: string, tokens: number | null): void {
    this.#admitted.delete(effect);
    if (tokens === null) return;
    const call = this.#idOf(effect);
    this.#changeOwnQueue(endpoint, (queue) => settleCall(queue, call, tokens));
    void this.#notifyGate((gate) => gate.settle(endpoint, call, tokens));
  }

  #idOf(effect: string): string {
    return `${this.#options.session}_${effect}`;
  }

  /**
   * Removes a call in the background. `wait`: the call's wait for the gate, if it may still run.
   */
  #startLeaving(request: RateRequest, wait?: Promise<void>): void {
    const { call } = request;
    const leaving = Promise.allSettled([this.#leave(request), wait]).then(() => {
      if (this.#leaving.get(call) === leaving) this.#leaving.delete(call);
    });
    this.#leaving.set(call, leaving);
  }

  async #leave({ endpoint, call }: RateRequest): Promise<void> {
    this.#changeOwnQueue(endpoint, (queue) => leaveQueue(queue, call));
    await this.#notifyGate((gate) => gate.leave(endpoint, call));
  }

  /**
   * Sends one message to the gate. Does not repeat it: the gate itself removes a call that no
   * longer sends messages. Never throws.
   */
  async #notifyGate(send: (gate: RateGateApi) => Promise<void>): Promise<void> {
    try {
      await answerWithin(LOST_AFTER_MS, async () => send(this.#options.gate()));
    } catch (error) {
      this.#report(error);
    }
  }

  #changeOwnQueue(endpoint: string, change: (queue: RateQueue) => RateQueue): void {
    const queue = this.#ownQueues.get(endpoint);
    if (queue) this.#ownQueues.set(endpoint, change(queue));
  }

  async #wait(request: RateRequest, { signal, onWait }: WaitOptions): Promise<void> {
    const leaving = this.#leaving.get(request.call);
    if (leaving !== undefined) await leaving;
    const progress: WaitProgress = { holdMs: REPORTED_WAIT_MS, failures: 0, failingSince: null };
    while (!signal.aborted) {
      const answer = await this.#ask(request, progress);
      if (signal.aborted) {
        // The `leave` of the abort may have reached the gate before this `start`.
        if (answer && answer.type !== "left") await this.#leave(request);
        return;
      }
      if (answer?.type === "start") return;
      if (answer?.type === "wait" && progress.holdMs === REPORTED_WAIT_MS) onWait(answer.startsAt);
      if (answer?.type === "wait") progress.holdMs = HOLD_MS;
    }
  }

  /**
   * The gate's answer, or the session's own answer if the gate is unreachable. `null`: the caller
   * must ask again.
   */
  async #ask(request: RateRequest, progress: WaitProgress): Promise<RateAnswer | null> {
    const { now, gate } = this.#options;
    try {
      const answer = await answerWithin(progress.holdMs + LOST_AFTER_MS, async () =>
        gate().start(request, progress.holdMs),
      );
      Object.assign(progress, { failures: 0, failingSince: null });
      return answer;
    } catch (error) {
      progress.failingSince ??= now();
      if (progress.failures === 0) this.#report(error);
      const isUnreachable = now() - progress.failingSince >= GATE_LIMIT_MS;
      const answer = isUnreachable ? this.#askOwnQueue(request) : null;
      if (answer?.type !== "start")
        await sleep(PAUSES_MS[Math.min(progress.failures, PAUSES_MS.length - 1)] ?? 0);
      progress.failures += 1;
      return answer;
    }
  }

  #askOwnQueue({ endpoint, call, limits, tokens }: RateRequest): RateAnswer {
    const asker: Asker = { id: call, limits, tokens };
    const verdict = askToStart(
      this.#ownQueues.get(endpoint) ?? EMPTY_QUEUE,
      asker,
      this.#options.now(),
    );
    this.#ownQueues.set(endpoint, verdict.queue);
    return verdict.granted ? { type: "start" } : { type: "wait", startsAt: verdict.startsAt };
  }

  #report(error: unknown): void {
    logError("the rate gate was not reached", this.#options.session, error);
  }
}

/**
 * The state of a call's wait. `holdMs`: how long the gate may hold the next request. `failures`:
 * failed requests in a row. `failingSince`: time of the first of them, unix ms.
 */
type WaitProgress = { holdMs: number; failures: number; failingSince: number | null };

/** Asks the gate. Throws if the answer takes longer than `ms`. */
const answerWithin = <T>(ms: number, ask: () => Promise<T>): Promise<T> =>
  withTimeout(ms, ask, () => new Error(`no answer within ${ms} ms`));
