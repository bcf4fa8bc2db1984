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

/** `left`: the call was removed. `again`: the queue may have changed, so the call asks again. */
type WakeReason = "left" | "again";
type Waiter = { endpoint: string; call: string; wake: (reason: WakeReason) => void };

/**
 * Calls that are not first in the queue check this often: the calls before them may have
 * disappeared without `leave`.
 */
const POLL_MS = 250;

/**
 * Admits the calls of all sessions of a tenant to endpoints with rate limits. Each call starts when
 * the limits allow. This class contains no rules; they are in `src/rate-limits/`. Usage is stored
 * as long as it counts, because limits may count a whole day. Waiting calls are not stored: after a
 * restart they ask again.
 */
export class RateGateObject extends DurableObject<Env> implements RateGateApi {
  readonly #queues = new Map<string, RateQueue>();
  readonly #waiters = new Set<Waiter>();
  /**
   * Monotonic, so that calls do not wait longer if the wall clock is set back. This clock is then
   * ahead of the wall clock.
   */
  readonly #clock = new MonotonicClock(() => {
    this.#wallAtReading = Date.now();
    return this.#wallAtReading;
  });
  /** The wall clock's value at the latest reading of `#clock`, unix ms. */
  #wallAtReading = 0;
  /** Whether an alarm is set that deletes old usage. */
  #hasAlarm = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS endpoints (id TEXT PRIMARY KEY, spent TEXT NOT NULL) WITHOUT ROWID",
    );
  }

  async start(request: RateRequest, holdMs: number = HOLD_MS): Promise<RateAnswer> {
    const holdEndsAt = this.#clock.now() + Math.min(holdMs, HOLD_MS);
    for (;;) {
      const now = this.#clock.now();
      const before = this.#queue(request.endpoint);
      const verdict = askToStart(before, { ...request, id: request.call }, now);
      // Usage whose time is in the future (a clock ahead of this one recorded it) gets the present
      // time. Store it, otherwise each restart would change its time again.
      this.#keep(request.endpoint, verdict.queue, verdict.granted || isAhead(before.spent, now));
      if (verdict.granted) {
        this.#wakeAll(request.endpoint); // another call is now the first in the queue
        return { type: "start" };
      }
      if (now >= holdEndsAt)
        return { type: "wait", startsAt: this.#wallAtReading + verdict.startsAt - now };
      const reason = await this.#wait(request, Math.min(verdict.startsAt, holdEndsAt) - now);
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

  /** Deletes usage that no longer counts, and sets the alarm for the next deletion. */
  override async alarm(): Promise<void> {
    const now = this.#clock.now();
    let nextDeletionAt = Number.POSITIVE_INFINITY;
    const rows = this.ctx.storage.sql.exec<Row>("SELECT id, spent FROM endpoints").toArray();
    for (const { id, spent } of rows) {
      const deletedAt = forgottenAt(parseUsage(spent));
      if (deletedAt > now) nextDeletionAt = Math.min(nextDeletionAt, deletedAt);
      else {
        this.ctx.storage.sql.exec("DELETE FROM endpoints WHERE id = ?", id);
        if (this.#queues.get(id)?.waiting.length === 0) this.#queues.delete(id);
      }
    }
    this.#hasAlarm = nextDeletionAt < Number.POSITIVE_INFINITY;
    if (this.#hasAlarm) await this.ctx.storage.setAlarm(nextDeletionAt);
  }

  #queue(endpoint: string): RateQueue {
    const known = this.#queues.get(endpoint);
    if (known) return known;
    const [row] = this.ctx.storage.sql.exec<Row>(
      "SELECT id, spent FROM endpoints WHERE id = ?",
      endpoint,
    );
    return { ...(row ? parseUsage(row.spent) : EMPTY_QUEUE), waiting: [] };
  }

  /** `mustStore`: whether usage or grants have changed. */
  #keep(endpoint: string, queue: RateQueue, mustStore: boolean): void {
    this.#queues.set(endpoint, queue);
    if (!mustStore) return;
    const { spent, granted } = queue;
    this.ctx.storage.sql.exec(
      "INSERT OR REPLACE INTO endpoints VALUES (?, ?)",
      endpoint,
      JSON.stringify({ spent, granted }),
    );
    if (this.#hasAlarm) return;
    this.#hasAlarm = true;
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

const parseUsage = (text: string): Pick<RateQueue, "spent" | "granted"> => JSON.parse(text);
