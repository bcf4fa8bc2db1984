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
  /** Resolves when all earlier writes are on disk. An object sends nothing before that. */
  gate: () => Promise<void>;
};

/** Latency of a message to the gate. */
const LATENCY_MS = 5;
/** Polling interval of waiting calls. */
const POLL_MS = 250;

/**
 * The tenant's gate for rate-limited backends. It uses the service's own rules, in an object that a
 * crash of the session's process does not affect. As in the service, requests of a crashed process
 * continue, but their results are not delivered.
 */
export class Gate {
  /** The admission time of each admitted call that has not left the queue, by call id, in order. */
  readonly admitted = new Map<string, number>();
  readonly #options: Options;
  readonly #queues = new Map<string, RateQueue>();
  readonly #waiters = new Map<string, (hasLeft: boolean) => void>();
  /** The number of the process that uses the gate. It increases with each crash. */
  #life = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Must be called when the process crashes. Results are no longer delivered to it. */
  disconnect(): void {
    this.#life += 1;
  }

  /** The gate's interface for the present process. */
  connect(): RateGateApi {
    const life = this.#life;
    const request = async <T>(work: () => T | Promise<T>): Promise<T> => {
      const isDead = () => life !== this.#life;
      await this.#options.gate();
      if (isDead()) return never();
      await this.#after(LATENCY_MS);
      const answer = await work();
      return isDead() ? never() : answer;
    };
    return {
      start: (call, holdMs = HOLD_MS) => request(() => this.#start(call, holdMs)),
      leave: (endpoint, call) => request(() => this.#leave(endpoint, call)),
      settle: (endpoint, call, tokens) =>
        request(() => this.#store(endpoint, settleCall(this.#queue(endpoint), call, tokens))),
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
      this.#store(request.endpoint, verdict.queue);
      if (verdict.granted) {
        if (!this.admitted.has(request.call)) this.admitted.set(request.call, time.now);
        return { type: "start" };
      }
      if (time.now >= until) return { type: "wait", startsAt: verdict.startsAt };
      if (await this.#waitOrLeave(request.call, Math.min(verdict.startsAt, until) - time.now))
        return { type: "left" };
    }
  }

  #leave(endpoint: string, call: string): void {
    this.#store(endpoint, leaveQueue(this.#queue(endpoint), call));
    this.admitted.delete(call);
    this.#waiters.get(call)?.(true);
  }

  #queue(endpoint: string): RateQueue {
    return this.#queues.get(endpoint) ?? EMPTY_QUEUE;
  }

  #store(endpoint: string, queue: RateQueue): void {
    this.#queues.set(endpoint, queue);
  }

  /** Waits `ms`, at least `POLL_MS`. Returns early with `true` if the call leaves the queue. */
  async #waitOrLeave(call: string, ms: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiters.set(call, resolve);
    void this.#after(Math.max(ms, POLL_MS)).then(() => resolve(false));
    return promise;
  }

  #after(ms: number): Promise<void> {
    const { time } = this.#options;
    return new Promise((resolve) => void time.timeline.schedule(time.now + ms, resolve));
  }
}

const never = (): Promise<never> => new Promise(() => {});
