import { setTimeout as sleep } from "node:timers/promises";
import { connectAndReset } from "../clients/sockets";
import { NO_OBSERVATIONS, type Observations } from "../build/orders";
import type { FaultyService } from "../faulty-service";
import type { RunServers } from "../runs/kinds";
import type { Run } from "../runs/run";
import { someOf, faultDraw } from "./draw";
import type { FaultCount } from "./figures";
import type { SoakFault } from "./soak-faults";
import { sessionPath } from "../../../src/protocol/paths";

/** An active run and its own providers. */
export type Target = { run: Run; providers: RunServers };

type Options = {
  service: Pick<FaultyService, "url" | "order" | "fireAlarm" | "reset">;
  seed: number;
  /** Between two faults, in ms. */
  everyMs: number;
  targets: () => readonly Target[];
  /** Whether no session may start now and the active ones run to their ends. */
  isResting: () => boolean;
};

/** The share of the time between two faults during which orders are in force. */
const IN_FORCE = 0.6;
/** A failed run's evidence contains so many of the latest faults. */
const REMEMBERED = 60;
/**
 * A busy machine may be late for an order, and a session may end before a fault reaches it. So many
 * failures in a row mean that the service is gone.
 */
const MOST_FAILED = 5;
const ASK_AGAIN_MS = 500;
const LOOK_EVERY_MS = 10;

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
   * Since when no fault is active and none will follow, `performance.now()`; `null` before that.
   */
  get quietSince(): number | null {
    return this.#quietSince;
  }

  /**
   * Injects faults until `over`, then clears them. Throws if the service rejects orders repeatedly.
   */
  async injectUntil(over: AbortSignal): Promise<void> {
    const { everyMs, seed } = this.#options;
    const startedAt = performance.now();
    let failed = 0;
    for (let nth = 0; ; nth += 1) {
      await rest(startedAt + (nth + 1) * everyMs - performance.now(), over);
      if (over.aborted) break;
      if (this.#options.isResting()) continue; // A fault that meets nothing shows nothing.
      const { fault, targets, chance } = faultDraw(seed, nth);
      const at = Date.now();
      try {
        const met = await this.#inject(fault, someOf(this.#runningNow(), targets, chance), over);
        this.#note({ at, name: fault.name, met });
        failed = 0;
      } catch (error) {
        failed += 1;
        this.#note({ at, name: fault.name, met: 0, failed: String(error) });
        if (failed === MOST_FAILED) throw error;
      }
    }
    await this.#clearOrders();
    this.#quietSince = performance.now();
  }

  /**
   * Clears all orders. Retries, because one late reply must not leave them in force. Throws if the
   * service rejects them repeatedly.
   */
  async #clearOrders(): Promise<Observations> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#options.service.order({});
      } catch (error) {
        if (tries === MOST_FAILED) throw error;
        await sleep(ASK_AGAIN_MS);
      }
    }
  }

  #runningNow = (): Target[] => this.#options.targets().filter(({ run }) => run.isRunning);

  /** Returns how many calls, alarms or sessions met the fault. */
  async #inject(fault: SoakFault, targets: readonly Target[], over: AbortSignal): Promise<number> {
    const { service, everyMs } = this.#options;
    switch (fault.does) {
      case "orders": {
        let seen = NO_OBSERVATIONS;
        try {
          await service.order(fault.orders);
          await rest(everyMs * IN_FORCE, over);
        } finally {
          // Also if the reply was late: the order may still be applied.
          seen = await this.#clearOrders();
        }
        const { met, lateAlarms } = seen;
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
        return this.#cut(targets, over);
    }
  }

  /** Waits for an open connection: between two requests a session has no connection. */
  async #cut(targets: readonly Target[], over: AbortSignal): Promise<number> {
    const giveUpAt = performance.now() + this.#options.everyMs * IN_FORCE;
    for (;;) {
      const broken = targets.reduce((sum, { providers }) => sum + providers.cut(), 0);
      if (broken > 0 || performance.now() > giveUpAt || over.aborted) return broken;
      await rest(LOOK_EVERY_MS, over);
    }
  }

  #note(fault: FaultInjector["recentFaults"][number]): void {
    const { name, met } = fault;
    const before = this.#faultCounts.get(name) ?? { name, tried: 0, met: 0 };
    this.#faultCounts.set(name, {
      name,
      tried: before.tried + 1,
      met: before.met + (met > 0 ? 1 : 0),
    });
    this.recentFaults.push(fault);
    if (this.recentFaults.length > REMEMBERED) this.recentFaults.shift();
  }
}

/** Sleeps for `ms`, or until `over`. */
export const rest = (ms: number, over: AbortSignal): Promise<void> =>
  sleep(Math.max(0, ms), undefined, { signal: over }).catch(() => undefined);
