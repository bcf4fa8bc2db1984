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

/** A run that is on, with the providers that are its own. */
export type Target = { run: Run; providers: Surroundings };

type Options = {
  service: Pick<FaultyService, "url" | "order" | "ring" | "reset">;
  seed: number;
  /** From one strike to the next, in ms. */
  everyMs: number;
  targets: () => readonly Target[];
  /** Whether no session is begun now, and those that are on are seen to their ends. */
  isResting: () => boolean;
};

/** For how much of the time between two strikes something stays wrong. */
const IN_FORCE = 0.6;
/** With what is wrong with a run it is kept what struck before: so many of the last. */
const REMEMBERED = 60;
/** A busy machine may be late for an order, and a session over before it is struck: whoever fails so often in a row is not there. */
const MOST_FAILED = 5;
const ASK_AGAIN_MS = 500;
const LOOK_EVERY_MS = 10;

/** Lets something go wrong again and again, drawn from the seed, until it is told to stop. */
export class Striker {
  readonly #options: Options;
  readonly #struck = new Map<string, Struck>();
  /** What struck lately, and when, Unix ms. */
  readonly lately: { at: number; name: string; met: number; failed?: string }[] = [];

  #calmSince: number | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  get struck(): readonly Struck[] {
    return [...this.#struck.values()];
  }

  /** Since when nothing is wrong any more and nothing will be, `performance.now()`; null: it is not so yet. */
  get calmSince(): number | null {
    return this.#calmSince;
  }

  /** Strikes until `over`; then nothing is wrong any more. Throws if the service takes no orders again and again. */
  async strikeUntil(over: AbortSignal): Promise<void> {
    const { everyMs, seed } = this.#options;
    const startedAt = performance.now();
    let failed = 0;
    for (let nth = 0; ; nth += 1) {
      await rest(startedAt + (nth + 1) * everyMs - performance.now(), over);
      if (over.aborted) break;
      if (this.#options.isResting()) continue; // a fault that meets nothing shows nothing
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

  /** Takes back what was ordered: one answer that is late must not leave it in force. Throws if it is not taken again and again. */
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

  /** Gives how much was met by it. */
  async #do(strike: Strike, targets: readonly Target[], over: AbortSignal): Promise<number> {
    const { service, everyMs } = this.#options;
    switch (strike.does) {
      case "orders": {
        let seen = NOTHING_SEEN;
        try {
          await service.order(strike.orders);
          await rest(everyMs * IN_FORCE, over);
        } finally {
          seen = await this.#calm(); // also if the answer was late: the order may be taken yet
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

  /** As soon as there is something to be cut: between two requests of a session nothing is. */
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

/** Sleeps so long, or until it is over. */
export const rest = (ms: number, over: AbortSignal): Promise<void> =>
  sleep(Math.max(0, ms), undefined, { signal: over }).catch(() => undefined);
