import { HEADER_LIMIT_MS, TOOL_SERVERS } from "../../shared/object-limits";
import { type Release, Semaphore } from "../../../src/async/semaphore";

/**
 * Slots for those requests to tool servers that are not tool calls: connecting, and listing tools.
 * A request holds its slot until its response headers arrive. `TOOL_SERVERS.own` slots are reserved
 * for them. Up to `TOOL_SERVERS.guests` more are free slots of calls. So a server that does not
 * answer does not block others, and the platform's connection limit is kept.
 */
export class ListingSlots {
  readonly #own = new Semaphore(TOOL_SERVERS.own, HEADER_LIMIT_MS);
  readonly #guests = new Semaphore(TOOL_SERVERS.guests, HEADER_LIMIT_MS);
  readonly #calls: Semaphore;

  /** `calls`: the slots of calls of models and tools. */
  constructor(calls: Semaphore) {
    this.#calls = calls;
  }

  /** Takes the first free slot. Throws `signal.reason` if aborted while waiting. */
  async enter(signal: AbortSignal): Promise<Release> {
    const slotFound = new AbortController();
    const waitSignal = AbortSignal.any([signal, slotFound.signal]);
    let firstRelease: Release | null = null;
    const keepFirst = async (acquired: Promise<Release>): Promise<Release> => {
      const release = await acquired;
      if (firstRelease)
        release(); // The other slot was free at the same time.
      else firstRelease = release;
      return firstRelease;
    };
    try {
      return await Promise.race([
        keepFirst(this.#own.acquire(waitSignal, keepSlot)),
        keepFirst(this.#acquireCallSlot(waitSignal)),
      ]);
    } finally {
      slotFound.abort(new Error("a slot was acquired"));
    }
  }

  async #acquireCallSlot(signal: AbortSignal): Promise<Release> {
    const releaseGuest = await this.#guests.acquire(signal, keepSlot);
    try {
      // With `null`, this request is admitted only after all waiting calls.
      const releaseCallSlot = await this.#calls.acquire(signal, null);
      return () => {
        releaseCallSlot();
        releaseGuest();
      };
    } catch (error) {
      releaseGuest();
      throw error;
    }
  }
}

/** Does not yield the slot: no listing is more important than another. */
const keepSlot = (): void => undefined;
