import { type Release, Semaphore } from "../../../src/async/semaphore";
import type { RelaySlot } from "../../../src/engine/ports";

type Options = {
  /** The number of relays. */
  relays: number;
  /** The number of slots of each relay. */
  slotsPerRelay: number;
  /** See `Semaphore`. */
  maxHoldMs: number;
};

/**
 * The slots for requests that wait for response headers. Each slot belongs to a relay. A caller
 * gets a slot of the first relay that has a free one, so a small team uses few relays.
 */
export class RelaySlots {
  readonly #semaphore: Semaphore;
  readonly #slotsPerRelay: number;
  /** The number of slots in use, by relay. */
  readonly #used: number[];

  constructor({ relays, slotsPerRelay, maxHoldMs }: Options) {
    this.#semaphore = new Semaphore(relays * slotsPerRelay, maxHoldMs);
    this.#slotsPerRelay = slotsPerRelay;
    this.#used = Array<number>(relays).fill(0);
  }

  /** See `Semaphore.acquire`. */
  async acquire(signal: AbortSignal, onYield: (() => void) | null): Promise<RelaySlot> {
    const releasePermit = await this.#semaphore.acquire(signal, onYield);
    const relay = this.#used.findIndex((used) => used < this.#slotsPerRelay);
    this.#change(relay, 1);
    let isReleased = false;
    const release: Release = () => {
      if (isReleased) return;
      isReleased = true;
      this.#change(relay, -1);
      releasePermit();
    };
    return { relay, release };
  }

  #change(relay: number, by: 1 | -1): void {
    this.#used[relay] = (this.#used[relay] ?? 0) + by;
  }
}
