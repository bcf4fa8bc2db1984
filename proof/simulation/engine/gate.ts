import {
  HOLD_MS,
  type RateAnswer,
  type RateGateApi,
  type RateRequest,
} from "../../../durable-objects/rate-gate/rate-gate-api";
import {
  askToStart,
  EMPTY_QUEUE,
  leaveQueue,
  type RateQueue,
  settleCall,
} from "../../../src/rate-limits/rate-queue";
import type { VirtualTime } from "./virtual-time";

type Options = {
  time: VirtualTime;
  /** Resolves when everything written so far is on disk. Nothing may leave an object earlier. */
  gate: () => Promise<void>;
};

/**
 * Latency of a message to the gate, and polling interval of calls that are not first in the queue,
 * in ms.
 */
const LATENCY_MS = 5;
const POLL_MS = 250;

/**
 * The tenant's gate for rate-limited backends: the service's own rules, in an object that outlives
 * the session's process. As in the service, requests of a dead process continue, but their results
 * are not delivered.
 */
export class Gate {
  /** Admission times of calls that were not released, in order, by call id. */
  readonly admitted = new Map<string, number>();
  readonly #options: Options;
  readonly #queues = new Map<string, RateQueue>();
  readonly #waiters = new Map<string, (isLeft: boolean) => void>();
  #life = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** The calling process died: results are no longer delivered to it. */
  disconnect(): void {
    this.#life += 1;
  }

  /** The gate's interface for the present process. */
  connect(): RateGateApi {
    const life = this.#life;
    const asked = async <T>(work: () => T | Promise<T>): Promise<T> => {
      const isDead = () => life !== this.#life;
      await this.#options.gate();
      if (isDead()) return never();
      await this.#after(LATENCY_MS);
      const answer = await work();
      return isDead() ? never() : answer;
    };
    return {
      start: (request, holdMs = HOLD_MS) => asked(() => this.#start(request, holdMs)),
      leave: (endpoint, call) => asked(() => this.#leave(endpoint, call)),
      settle: (endpoint, call, tokens) =>
        asked(() => this.#keep(endpoint, settleCall(this.#queue(endpoint), call, tokens))),
    };
  }

  async #start(request: RateRequest, holdMs: number): Promise<RateAnswer> {
    const { time } = this.#options;
    const until = time.now + Math.min(holdMs, HOLD_MS);
    for (;;) {
      const verdict = askToStart(
        this.#queue(request.endpoint),
        { ...request, id: request.call },
        time.now,
      );
      this.#keep(request.endpoint, verdict.queue);
      if (verdict.granted) {
        if (!this.admitted.has(request.call)) this.admitted.set(request.call, time.now);
        return { type: "start" };
      }
      if (time.now >= until) return { type: "wait", startsAt: verdict.startsAt };
      if (await this.#waits(request.call, Math.min(verdict.startsAt, until) - time.now))
        return { type: "left" };
    }
  }

  #leave(endpoint: string, call: string): void {
    this.#keep(endpoint, leaveQueue(this.#queue(endpoint), call));
    this.admitted.delete(call);
    this.#waiters.get(call)?.(true);
  }

  #queue(endpoint: string): RateQueue {
    return this.#queues.get(endpoint) ?? EMPTY_QUEUE;
  }

  #keep(endpoint: string, queue: RateQueue): void {
    this.#queues.set(endpoint, queue);
  }

  /** Whether the call left the queue meanwhile. */
  async #waits(call: string, ms: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiters.set(call, resolve);
    void this.#after(Math.max(ms, POLL_MS)).then(() => resolve(false));
    return promise;
  }

  #after(ms: number): Promise<void> {
    const { time } = this.#options;
    return new Promise((over) => void time.timeline.schedule(time.now + ms, over));
  }
}

const never = (): Promise<never> => new Promise(() => {});
