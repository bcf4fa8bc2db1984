import { setTimeout as sleep } from "node:timers/promises";
import type { WireEvent } from "../../../src/protocol/events";
import type { Watcher } from "./watcher";

const LOOK_EVERY_MS = 5;
const GIVE_UP_AFTER_MS = 20_000;

/**
 * Lets simulated models wait for events of their run, so that their replies have only one order.
 */
export class Gates {
  /** The watcher of the current run. */
  watcher: Watcher | null = null;

  /**
   * Resolves when the log has at least this many events of a type. Throws if that takes too long.
   */
  async until(type: WireEvent["type"], count: number): Promise<void> {
    const giveUpAt = performance.now() + GIVE_UP_AFTER_MS;
    while (this.#seen(type) < count) {
      if (performance.now() > giveUpAt)
        throw new Error(`the log has ${this.#seen(type)} of ${count} ${type}`);
      await sleep(LOOK_EVERY_MS);
    }
  }

  #seen(type: WireEvent["type"]): number {
    return this.watcher?.frames.filter((frame) => frame.includes(`event: ${type}\n`)).length ?? 0;
  }
}
