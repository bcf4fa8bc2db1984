import { DurableObject } from "cloudflare:workers";
import { MonotonicClock } from "../../src/async/clock";
import { isAhead } from "../../src/rate-limits/backend-rates";
import {
  askToStart,
  EMPTY_QUEUE,
  forgottenAt,
  leaveQueue,
  type RateQueue,
  settleCall,
} from "../../src/rate-limits/rate-queue";
import type { Env } from "../../src/env";
import { HOLD_MS, type RateAnswer, type RateGateApi, type RateRequest } from "./rate-gate-api";

/** `left`: the call was removed. `again`: the queue may have changed, ask again. */
type WakeReason = "left" | "again";
type Waiter = { endpoint: string; call: string; wake: (reason: WakeReason) => void };

/**
 * Calls that are not first in the queue check this often: the calls before them may have
 * disappeared without `leave`.
 */
const POLL_MS = 250;

/**
 * The calls of all sessions of a tenant to endpoints with limits. Each call starts when there is
 * room. A shell: the rules are in `src/rate-limits/`. Usage is stored, because limits may count a
 * whole day, and deleted afterwards. Waiting calls are not stored; they ask again.
 */
export class RateGateObject extends DurableObject<Env> implements RateGateApi {
  readonly #queues = new Map<string, RateQueue>();
  readonly #waiters = new Set<Waiter>();
  /**
   * Monotonic: if the wall clock is set back, calls do not wait longer. It can then be ahead of the
   * wall clock.
   */
  readonly #clock = new MonotonicClock(() => {
    this.#wall = Date.now();
    return this.#wall;
  });
  /** The wall clock's value at the latest reading of `#clock`, unix ms. */
  #wall = 0;
  #isSwept = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS endpoints (id TEXT PRIMARY KEY, spent TEXT NOT NULL) WITHOUT ROWID",
    );
  }

  async start(request: RateRequest, holdMs: number = HOLD_MS): Promise<RateAnswer> {
    const until = this.#clock.now() + Math.min(holdMs, HOLD_MS);
    for (;;) {
      const now = this.#clock.now();
      const before = this.#queue(request.endpoint);
      const verdict = askToStart(before, { ...request, id: request.call }, now);
      // Usage that a clock ahead of this one recorded is stored again with the present time, once
      // instead of after each restart.
      this.#keep(request.endpoint, verdict.queue, verdict.granted || isAhead(before.spent, now));
      if (verdict.granted) {
        this.#wakeAll(request.endpoint); // the next call in the queue is first now
        return { type: "start" };
      }
      if (now >= until) return { type: "wait", startsAt: this.#wall + verdict.startsAt - now };
      const reason = await this.#wait(request, Math.min(verdict.startsAt, until) - now);
      if (reason === "left") return { type: "left" };
    }
  }

  async leave(endpoint: string, call: string): Promise<void> {
    this.#keep(endpoint, leaveQueue(this.#queue(endpoint), call), true);
    for (const waiter of this.#waiters) if (waiter.call === call) waiter.wake("left");
    this.#wakeAll(endpoint);
  }

  async settle(endpoint: string, call: string, tokens: number): Promise<void> {
    this.#keep(endpoint, settleCall(this.#queue(endpoint), call, tokens), true);
    this.#wakeAll(endpoint);
  }

  /** Deletes usage that no longer counts, and sets the alarm for the next. */
  override async alarm(): Promise<void> {
    const now = this.#clock.now();
    let next = Number.POSITIVE_INFINITY;
    const rows = this.ctx.storage.sql.exec<Row>("SELECT id, spent FROM endpoints").toArray();
    for (const { id, spent } of rows) {
      const until = forgottenAt(keptOf(spent));
      if (until > now) next = Math.min(next, until);
      else {
        this.ctx.storage.sql.exec("DELETE FROM endpoints WHERE id = ?", id);
        if (this.#queues.get(id)?.waiting.length === 0) this.#queues.delete(id);
      }
    }
    this.#isSwept = next < Number.POSITIVE_INFINITY;
    if (this.#isSwept) await this.ctx.storage.setAlarm(next);
  }

  #queue(endpoint: string): RateQueue {
    const known = this.#queues.get(endpoint);
    if (known) return known;
    const [row] = this.ctx.storage.sql.exec<Row>(
      "SELECT id, spent FROM endpoints WHERE id = ?",
      endpoint,
    );
    return { ...(row ? keptOf(row.spent) : EMPTY_QUEUE), waiting: [] };
  }

  /** `isSpent`: whether usage or grants changed, so that the queue must be stored. */
  #keep(endpoint: string, queue: RateQueue, isSpent: boolean): void {
    this.#queues.set(endpoint, queue);
    if (!isSpent) return;
    const { spent, granted } = queue;
    this.ctx.storage.sql.exec(
      "INSERT OR REPLACE INTO endpoints VALUES (?, ?)",
      endpoint,
      JSON.stringify({ spent, granted }),
    );
    if (this.#isSwept) return;
    this.#isSwept = true;
    void this.ctx.storage.setAlarm(forgottenAt(queue));
  }

  /** Waits until the call may start, the queue changes, or the call is removed. */
  async #wait({ endpoint, call }: RateRequest, ms: number): Promise<WakeReason> {
    const { promise, resolve } = Promise.withResolvers<WakeReason>();
    const timer = setTimeout(() => resolve("again"), Math.max(ms, POLL_MS));
    const waiter: Waiter = { endpoint, call, wake: resolve };
    this.#waiters.add(waiter);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiters.delete(waiter);
    }
  }

  #wakeAll(endpoint: string): void {
    for (const waiter of this.#waiters) if (waiter.endpoint === endpoint) waiter.wake("again");
  }
}

type Row = { id: string; spent: string };

const keptOf = (text: string): Pick<RateQueue, "spent" | "granted"> => JSON.parse(text);
