import { setTimeout as sleep } from "node:timers/promises";
import { connectAndReset } from "../clients/sockets";
import { NO_OBSERVATIONS, type Observations } from "../build/orders";
import type { FaultyService } from "../faulty-service";
import type { RunServers } from "../runs/kinds";
import type { Run } from "../runs/run";
import { pickSome, faultDraw } from "./draw";
import type { FaultCount } from "./figures";
import type { SoakFault } from "./soak-faults";
import { sessionPath } from "../../../src/protocol/paths";

/** An active run and its own providers. */
export type Target = { run: Run; providers: RunServers };

type Options = {
  service: Pick<FaultyService, "url" | "order" | "fireAlarm" | "reset">;
  seed: number;
  /** Time between two faults, in ms. */
  everyMs: number;
  targets: () => readonly Target[];
  /** Whether the pool pauses: no session starts, and the active sessions run to their ends. */
  isResting: () => boolean;
};

/** Orders are in force for this share of the time between two faults. */
const ORDERS_SHARE = 0.6;
/** The evidence of a failed run contains so many of the latest faults. */
const MOST_RECENT_FAULTS = 60;
/**
 * A busy machine may be late for an order, and a session may end before a fault reaches it. So many
 * failures in a row mean that the service is gone.
 */
const MOST_FAILURES_IN_A_ROW = 5;
const RETRY_AFTER_MS = 500;
const CHECK_EVERY_MS = 10;

/** Injects drawn faults at regular times until it is stopped. */
export class FaultInjector {
  readonly #options: Options;
  readonly #faultCounts = new Map<string, FaultCount>();
  /** The latest faults; times in Unix ms. */
  readonly recentFaults: { at: number; name: string; met: number; failed?: string }[] = [];

  #quietSince: number | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  get faultCounts(): readonly FaultCount[] {
    return [...this.#faultCounts.values()];
  }

  /**
   * Since when no fault is active and no fault will follow, `performance.now()`. `null` before
   * that.
   */
  get quietSince(): number | null {
    return this.#quietSince;
  }

  /**
   * Injects faults until `end` is aborted, then clears them. Throws if the service rejects orders
   * repeatedly.
   */
  async injectUntil(end: AbortSignal): Promise<void> {
    const { everyMs, seed } = this.#options;
    const startedAt = performance.now();
    let failedInARow = 0;
    for (let nth = 0; ; nth += 1) {
      await rest(startedAt + (nth + 1) * everyMs - performance.now(), end);
      if (end.aborted) break;
      if (this.#options.isResting()) continue; // A fault without an active session tests nothing.
      const { fault, targets, chance } = faultDraw(seed, nth);
      const at = Date.now();
      try {
        const met = await this.#inject(
          fault,
          pickSome(this.#runningTargets(), targets, chance),
          end,
        );
        this.#recordFault({ at, name: fault.name, met });
        failedInARow = 0;
      } catch (error) {
        failedInARow += 1;
        this.#recordFault({ at, name: fault.name, met: 0, failed: String(error) });
        if (failedInARow === MOST_FAILURES_IN_A_ROW) throw error;
      }
    }
    await this.#clearOrders();
    this.#quietSince = performance.now();
  }

  /**
   * Clears all orders. Retries, because one late reply must not leave the orders in force. Throws
   * if the service rejects the request repeatedly.
   */
  async #clearOrders(): Promise<Observations> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#options.service.order({});
      } catch (error) {
        if (tries === MOST_FAILURES_IN_A_ROW) throw error;
        await sleep(RETRY_AFTER_MS);
      }
    }
  }

  #runningTargets = (): Target[] => this.#options.targets().filter(({ run }) => run.isRunning);

  /** Injects one fault. Returns how many calls, alarms or sessions met the fault. */
  async #inject(fault: SoakFault, targets: readonly Target[], end: AbortSignal): Promise<number> {
    const { service, everyMs } = this.#options;
    switch (fault.does) {
      case "orders": {
        let observations = NO_OBSERVATIONS;
        try {
          await service.order(fault.orders);
          await rest(everyMs * ORDERS_SHARE, end);
        } finally {
          // Also if the reply was late: the order may still be applied.
          observations = await this.#clearOrders();
        }
        const { met, lateAlarms } = observations;
        return met.reduce((sum, times) => sum + times, lateAlarms);
      }
      case "alarms":
        await Promise.all(targets.map(({ run }) => service.fireAlarm(run.session, fault.times)));
        return targets.length;
      case "resets":
        await Promise.all(targets.map(({ run }) => service.reset(run.session)));
        return targets.length;
      case "vanishes":
        await Promise.all(
          targets.map(({ run }) =>
            connectAndReset(service.url, `${sessionPath(run.session)}/events`, fault.readers),
          ),
        );
        return targets.length;
      case "cuts":
        return this.#cutConnections(targets, end);
    }
  }

  /** Waits until a target has an open connection, because it has none between two requests. */
  async #cutConnections(targets: readonly Target[], end: AbortSignal): Promise<number> {
    const giveUpAt = performance.now() + this.#options.everyMs * ORDERS_SHARE;
    for (;;) {
      const cutCount = targets.reduce((sum, { providers }) => sum + providers.cut(), 0);
      if (cutCount > 0 || performance.now() > giveUpAt || end.aborted) return cutCount;
      await rest(CHECK_EVERY_MS, end);
    }
  }

  #recordFault(fault: FaultInjector["recentFaults"][number]): void {
    const { name, met } = fault;
    const before = this.#faultCounts.get(name) ?? { name, tried: 0, met: 0 };
    this.#faultCounts.set(name, {
      name,
      tried: before.tried + 1,
      met: before.met + (met > 0 ? 1 : 0),
    });
    this.recentFaults.push(fault);
    if (this.recentFaults.length > MOST_RECENT_FAULTS) this.recentFaults.shift();
  }
}

/** Sleeps for `ms`, or until `end` is aborted. */
export const rest = (ms: number, end: AbortSignal): Promise<void> =>
  sleep(Math.max(0, ms), undefined, { signal: end }).catch(() => undefined);
