import { HEADER_LIMIT_MS, TOOL_SERVERS } from "../../shared/object-limits";
import { withoutStack } from "../../../src/async/abort";
import { Semaphore } from "../../../src/async/semaphore";
import type { RelaySlot, SlotSource } from "../../../src/engine/ports";
import type { RequestSlot } from "../../../src/tools/mcp/environment";

const SLOT_ACQUIRED = withoutStack(() => new Error("a slot was acquired"));

/**
 * Slots for those requests to tool servers that are not tool calls: connecting, and listing tools.
 * A request holds its slot until its response headers arrive. `TOOL_SERVERS.own` slots are reserved
 * for them; the session sends these requests itself. Up to `TOOL_SERVERS.guests` more are free
 * slots of calls, whose relays send the requests. So a server that does not answer does not block
 * others, and the platform's connection limit is kept.
 */
export class ListingSlots {
  readonly #own = new Semaphore(TOOL_SERVERS.own, HEADER_LIMIT_MS);
  readonly #guests = new Semaphore(TOOL_SERVERS.guests, HEADER_LIMIT_MS);
  readonly #calls: SlotSource<RelaySlot>;

  /** `calls`: the slots of calls of models and tools. */
  constructor(calls: SlotSource<RelaySlot>) {
    this.#calls = calls;
  }

  /** Takes the first free slot. Throws `signal.reason` if aborted while waiting. */
  async enter(signal: AbortSignal): Promise<RequestSlot> {
    const slotFound = new AbortController();
    const waitSignal = AbortSignal.any([signal, slotFound.signal]);
    let first: RequestSlot | null = null;
    const keepFirst = async (acquired: Promise<RequestSlot>): Promise<RequestSlot> => {
      const slot = await acquired;
      if (first)
        slot.release(); // The other slot was free at the same time.
      else first = slot;
      return first;
    };
    try {
      return await Promise.race([
        keepFirst(this.#acquireOwnSlot(waitSignal)),
        keepFirst(this.#acquireCallSlot(waitSignal)),
      ]);
    } finally {
      slotFound.abort(SLOT_ACQUIRED);
    }
  }

  async #acquireOwnSlot(signal: AbortSignal): Promise<RequestSlot> {
    return { release: await this.#own.acquire(signal, keepSlot) };
  }

  async #acquireCallSlot(signal: AbortSignal): Promise<RequestSlot> {
    const releaseGuest = await this.#guests.acquire(signal, keepSlot);
    try {
      // With `null`, this request is admitted only after all waiting calls.
      const { relay, release: releaseCallSlot } = await this.#calls.acquire(signal, null);
      const release = () => {
        releaseCallSlot();
        releaseGuest();
      };
      return { relay, release };
    } catch (error) {
      releaseGuest();
      throw error;
    }
  }
}

/** Does not yield the slot: no listing is more important than another. */
const keepSlot = (): void => undefined;
