import { setTimeout as sleep } from "node:timers/promises";
import { leaveInTheMiddle } from "../clients/sockets";
import { NOTHING_SEEN, type Seen } from "../build/orders";
import type { FaultyService } from "../faulty-service";
import type { Surroundings } from "../runs/kinds";
import type { Run } from "../runs/run";
import { someOf, strikeDraw } from "./draw";
import type { Struck } from "./figures";
import type { Strike } from "./strikes";
import { sessionPath } from "../../../src/protocol/paths";

/** An active run and its own providers. */
export type Target = { run: Run; providers: Surroundings };

type Options = {
  service: Pick<FaultyService, "url" | "order" | "ring" | "reset">;
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
export class Striker {
  readonly #options: Options;
  readonly #struck = new Map<string, Struck>();
  /** The latest faults; times in Unix ms. */
  readonly lately: { at: number; name: string; met: number; failed?: string }[] = [];

  #calmSince: number | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  get struck(): readonly Struck[] {
    return [...this.#struck.values()];
  }

  /**
   * Since when no fault is active and none will follow, `performance.now()`; `null` before that.
   */
  get calmSince(): number | null {
    return this.#calmSince;
  }

  /**
   * Injects faults until `over`, then clears them. Throws if the service rejects orders repeatedly.
   */
  async strikeUntil(over: AbortSignal): Promise<void> {
    const { everyMs, seed } = this.#options;
    const startedAt = performance.now();
    let failed = 0;
    for (let nth = 0; ; nth += 1) {
      await rest(startedAt + (nth + 1) * everyMs - performance.now(), over);
      if (over.aborted) break;
      if (this.#options.isResting()) continue; // A fault that meets nothing shows nothing.
      const { strike, targets, chance } = strikeDraw(seed, nth);
      const at = Date.now();
      try {
        const met = await this.#do(strike, someOf(this.#runningNow(), targets, chance), over);
        this.#note({ at, name: strike.name, met });
        failed = 0;
      } catch (error) {
        failed += 1;
        this.#note({ at, name: strike.name, met: 0, failed: String(error) });
        if (failed === MOST_FAILED) throw error;
      }
    }
    await this.#calm();
    this.#calmSince = performance.now();
  }

  /**
   * Clears all orders. Retries, because one late reply must not leave them in force. Throws if the
   * service rejects them repeatedly.
   */
  async #calm(): Promise<Seen> {
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
  async #do(strike: Strike, targets: readonly Target[], over: AbortSignal): Promise<number> {
    const { service, everyMs } = this.#options;
    switch (strike.does) {
      case "orders": {
        let seen = NOTHING_SEEN;
        try {
          await service.order(strike.orders);
          await rest(everyMs * IN_FORCE, over);
        } finally {
          seen = await this.#calm(); // Also if the reply was late: the order may still be applied.
        }
        const { met, lateAlarms } = seen;
        return met.reduce((sum, times) => sum + times, lateAlarms);
      }
      case "rings":
        await Promise.all(targets.map(({ run }) => service.ring(run.session, strike.times)));
        return targets.length;
      case "resets":
        await Promise.all(targets.map(({ run }) => service.reset(run.session)));
        return targets.length;
      case "vanishes":
        await Promise.all(
          targets.map(({ run }) =>
            leaveInTheMiddle(service.url, `${sessionPath(run.session)}/events`, strike.readers),
          ),
        );
        return targets.length;
      case "cuts":
        return this.#cut(targets, over);
    }
  }

  /** Waits for an open connection: between two requests of a session there is none. */
  async #cut(targets: readonly Target[], over: AbortSignal): Promise<number> {
    const giveUpAt = performance.now() + this.#options.everyMs * IN_FORCE;
    for (;;) {
      const broken = targets.reduce((sum, { providers }) => sum + providers.cut(), 0);
      if (broken > 0 || performance.now() > giveUpAt || over.aborted) return broken;
      await rest(LOOK_EVERY_MS, over);
    }
  }

  #note(strike: Striker["lately"][number]): void {
    const { name, met } = strike;
    const before = this.#struck.get(name) ?? { name, tried: 0, met: 0 };
    this.#struck.set(name, { name, tried: before.tried + 1, met: before.met + (met > 0 ? 1 : 0) });
    this.lately.push(strike);
    if (this.lately.length > REMEMBERED) this.lately.shift();
  }
}

/** Sleeps for `ms`, or until `over`. */
export const rest = (ms: number, over: AbortSignal): Promise<void> =>
  sleep(Math.max(0, ms), undefined, { signal: over }).catch(() => undefined);
