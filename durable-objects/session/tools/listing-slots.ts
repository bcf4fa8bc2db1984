import { HEADER_LIMIT_MS, TOOL_SERVERS } from "../../shared/object-limits";
import { type Release, Semaphore } from "../../../src/async/semaphore";

/**
 * Slots for requests to tool servers that are no calls (connecting, listing) until their headers
 * arrive. `TOOL_SERVERS.own` slots are reserved; `TOOL_SERVERS.guests` more are taken from the
 * slots of calls while those are free. So a server that does not answer does not block others, and
 * the platform's connection limit is kept.
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
    const found = new AbortController();
    const waiting = AbortSignal.any([signal, found.signal]);
    let taken: Release | null = null;
    const first = async (take: Promise<Release>): Promise<Release> => {
      const release = await take;
      if (taken)
        release(); // both were free at once
      else taken = release;
      return taken;
    };
    try {
      return await Promise.race([
        first(this.#own.acquire(waiting, keepsSlot)),
        first(this.#asGuest(waiting)),
      ]);
    } finally {
      found.abort(new Error("a slot was acquired"));
    }
  }

  async #asGuest(signal: AbortSignal): Promise<Release> {
    const leave = await this.#guests.acquire(signal, keepsSlot);
    try {
      // after calls that could yield their slot
      const release = await this.#calls.acquire(signal, null);
      return () => {
        release();
        leave();
      };
    } catch (error) {
      leave();
      throw error;
    }
  }
}

/** All listings are alike: none yields its slot to another. */
const keepsSlot = (): void => undefined;
