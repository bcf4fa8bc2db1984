import { HEADER_PATIENCE_MS, TOOL_SERVERS } from "../../shared/limits";
import { type Release, Semaphore } from "../../../src/async/semaphore";

/**
 * Where requests to tool servers that are no calls (connecting, listing) wait for their headers. One place is theirs; a few more find
 * room in the slots of calls, as far as nothing else wants those. So a server that does not answer keeps nobody from the others while
 * there is room, and all together never wait in more places than the platform has.
 */
export class ListingSlots {
  readonly #own = new Semaphore(TOOL_SERVERS.own, HEADER_PATIENCE_MS);
  readonly #guests = new Semaphore(TOOL_SERVERS.guests, HEADER_PATIENCE_MS);
  readonly #calls: Semaphore;

  /** `calls`: the slots of calls of models and tools. */
  constructor(calls: Semaphore) {
    this.#calls = calls;
  }

  /** Takes whichever place is free first. Throws `signal.reason` if aborted while waiting. */
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
      found.abort(new Error("it has a place"));
    }
  }

  async #asGuest(signal: AbortSignal): Promise<Release> {
    const leave = await this.#guests.acquire(signal, keepsSlot);
    try {
      const release = await this.#calls.acquire(signal, null); // after calls that could give way
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

/** Here all are alike, so nobody has to give way to another kind. */
const keepsSlot = (): void => undefined;
