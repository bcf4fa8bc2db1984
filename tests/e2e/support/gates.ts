import { setTimeout as sleep } from "node:timers/promises";
import type { WireEvent } from "../../../src/protocol/events";
import type { Watcher } from "./watcher";

const POLL_MS = 5;
const GIVE_UP_AFTER_MS = 20_000;

/** Lets simulated models wait for events of their run, so that the order of replies is fixed. */
export class Gates {
  /** The watcher of the current run. */
  watcher: Watcher | null = null;

  /** Resolves when the log has at least `count` events of this type. Throws after 20 s. */
  async until(type: WireEvent["type"], count: number): Promise<void> {
    const giveUpAt = performance.now() + GIVE_UP_AFTER_MS;
    while (this.#countOf(type) < count) {
      if (performance.now() > giveUpAt)
        throw new Error(`the log has ${this.#countOf(type)} of ${count} ${type}`);
      await sleep(POLL_MS);
    }
  }

  #countOf(type: WireEvent["type"]): number {
    return this.watcher?.frames.filter((frame) => frame.includes(`event: ${type}\n`)).length ?? 0;
  }
}
