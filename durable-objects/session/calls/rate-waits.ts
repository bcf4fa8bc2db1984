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

/** A call as its gate receives it, without the id: the id contains the effect's id. */
export type RatedCall = Omit<RateRequest, "call">;

/**
 * The id of a quota at a provider: one per address, key and model. It contains a hash of the key,
 * not the key.
 */
export function quotaOf({ baseUrl, model }: Backend, key: string): string {
  return `${baseUrl} ${model} ${createHash("sha256").update(key).digest("hex").slice(0, 16)}`;
}

/** Shorter waits are not reported. */
const SHORT_MS = 1_000;
/** An answer that is overdue by this time counts as lost. */
const LOST_AFTER_MS = 5_000;
/** A gate that was moved or restarted answers again within this time. */
const GATE_LIMIT_MS = 10_000;
const PAUSES_MS = [250, 500, 1_000, 2_000] as const;

type Options = {
  session: string;
  /** The tenant's gate. Returns a new stub each time, because a broken stub stays broken. */
  gate: () => RateGateApi;
  /** The session's time, unix ms. */
  now: () => number;
};

type WaitOptions = {
  signal: AbortSignal;
  /** Called once if the wait is long. `startsAt`: when there may be room, unix ms. */
  onWait: (startsAt: number) => void;
};

/**
 * Admission of a session's calls by its tenant's rate gate: each call waits until it may start.
 * Nothing is stored. After a restart a call asks again, and the gate admits an admitted call again.
 * While the gate is unreachable, the session applies the same limits itself, as if the tenant had
 * no other session.
 */
export class RateWaits {
  readonly #options: Options;
  /** Admitted calls that have not ended, by effect id. */
  readonly #admitted = new Map<string, RatedCall>();
  /** Queues of calls while the gate is unreachable, by endpoint. */
  readonly #alone = new Map<string, RateQueue>();
  /**
   * Calls whose `leave` is on its way, by call id. A new `start` of the same call must wait for it:
   * requests can overtake each other, and the gate would apply the old `leave` to the new call.
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
      if (signal.aborted) this.#leaves(request, wait);
      throw error;
    }
  }

  /** Releases the share of an admitted call that was not sent. */
  release(effect: string): void {
    const call = this.#admitted.get(effect);
    if (!call) return;
    this.#admitted.delete(effect);
    this.#leaves({ ...call, call: this.#idOf(effect) });
  }

  /**
   * Records that a sent call has ended (also one admitted before a restart). `tokens` is its actual
   * usage; `null` keeps the estimate.
   */
  settle(effect: string, endpoint: string, tokens: number | null): void {
    this.#admitted.delete(effect);
    if (tokens === null) return;
    const call = this.#idOf(effect);
    this.#changeAlone(endpoint, (queue) => settleCall(queue, call, tokens));
    void this.#notifyGate((gate) => gate.settle(endpoint, call, tokens));
  }

  #idOf(effect: string): string {
    return `${this.#options.session}_${effect}`;
  }

  /** `wait`: the call's wait for the gate, if it has not ended yet. */
  #leaves(request: RateRequest, wait?: Promise<void>): void {
    const { call } = request;
    const left = Promise.allSettled([this.#leave(request), wait]).then(() => {
      if (this.#leaving.get(call) === left) this.#leaving.delete(call);
    });
    this.#leaving.set(call, left);
  }

  async #leave({ endpoint, call }: RateRequest): Promise<void> {
    this.#changeAlone(endpoint, (queue) => leaveQueue(queue, call));
    await this.#notifyGate((gate) => gate.leave(endpoint, call));
  }

  /** One try: the gate drops a call of which it receives no message. Never throws. */
  async #notifyGate(what: (gate: RateGateApi) => Promise<void>): Promise<void> {
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

  async #wait(request: RateRequest, { signal, onWait }: WaitOptions): Promise<void> {
    const leaving = this.#leaving.get(request.call);
    if (leaving !== undefined) await leaving;
    const line: Line = { holdMs: SHORT_MS, failures: 0, failingSince: null };
    while (!signal.aborted) {
      const answer = await this.#ask(request, line);
      if (signal.aborted) {
        // the `leave` may have reached the gate before this `start`
        if (answer && answer.type !== "left") await this.#leave(request);
        return;
      }
      if (answer?.type === "start") return;
      if (answer?.type === "wait" && line.holdMs === SHORT_MS) onWait(answer.startsAt);
      if (answer?.type === "wait") line.holdMs = HOLD_MS;
    }
  }

  /** The gate's answer, or the session's own if the gate is unreachable; `null`: ask again. */
  async #ask(request: RateRequest, line: Line): Promise<RateAnswer | null> {
    const { now, gate } = this.#options;
    try {
      const answer = await answered(line.holdMs + LOST_AFTER_MS, async () =>
        gate().start(request, line.holdMs),
      );
      Object.assign(line, { failures: 0, failingSince: null });
      return answer;
    } catch (error) {
      line.failingSince ??= now();
      if (line.failures === 0) this.#report(error);
      const isLost = now() - line.failingSince >= GATE_LIMIT_MS;
      const answer = isLost ? this.#askAlone(request) : null;
      if (answer?.type !== "start")
        await sleep(PAUSES_MS[Math.min(line.failures, PAUSES_MS.length - 1)] ?? 0);
      line.failures += 1;
      return answer;
    }
  }

  #askAlone({ endpoint, call, limits, tokens }: RateRequest): RateAnswer {
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

/** The state of a call's wait: how long the gate may hold the next request, and its failures. */
type Line = { holdMs: number; failures: number; failingSince: number | null };

/** Throws if the gate takes longer. */
const answered = <T>(ms: number, ask: () => Promise<T>): Promise<T> =>
  withTimeout(ms, ask, () => new Error(`no answer within ${ms} ms`));
