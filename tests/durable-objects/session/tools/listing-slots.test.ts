import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TOOL_SERVERS } from "../../../../durable-objects/shared/object-limits";
import type { RequestSlot } from "../../../../src/tools/mcp/environment";
import { ListingSlots } from "../../../../durable-objects/session/tools/listing-slots";
import type { Release } from "../../../../src/async/semaphore";
import { RelaySlots } from "../../../../durable-objects/session/calls/relay-slots";

/** Few slots, so that few calls use them all. */
const CALL_SLOTS = 4;
const HEADER_LIMIT_MS = 45_000;
const never = new AbortController().signal;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

/**
 * Calls and requests to tool servers that acquire slots. Each has a name. `holders`: the names of
 * those that hold a slot.
 */
function start() {
  const slots = new RelaySlots({ relays: 2, slotsPerRelay: 2, maxHoldMs: HEADER_LIMIT_MS });
  const listingSlots = new ListingSlots(slots);
  const releases = new Map<string, Release>();
  const settle = () => vi.advanceTimersByTimeAsync(0);
  const relays = new Map<string, number | undefined>();
  const take = async (names: string[], acquire: () => Promise<RequestSlot>) => {
    for (const name of names) {
      void acquire().then(
        ({ relay, release }) => {
          relays.set(name, relay);
          releases.set(name, release);
        },
        () => undefined,
      );
      await settle();
    }
  };
  return {
    holders: () => [...releases.keys()],
    /** The relay that sends a request; `undefined` if the session sends it itself. */
    relayOf: (name: string) => relays.get(name),
    calls: (...names: string[]) => take(names, () => slots.acquire(never, () => undefined)),
    servers: (...names: string[]) => take(names, () => listingSlots.enter(never)),
    enter: (signal: AbortSignal) => listingSlots.enter(signal),
    async leave(...names: string[]) {
      for (const name of names) releases.get(name)?.();
      for (const name of names) releases.delete(name);
      await settle();
    },
  };
}

describe("requests that connect to tool servers", () => {
  it("have one slot of the session itself while calls use all slots of the relays", async () => {
    const { holders, relayOf, calls, servers, leave } = start();
    await calls("a", "b", "c", "d", "e");
    await servers("s1", "s2", "s3");
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    expect(holders()).toEqual(["a", "b", "c", "d", "s1"]);
    expect(holders().map(relayOf)).toEqual([0, 0, 1, 1, undefined]);
    await leave("a", "b", "c", "d", "e", "s1");
    await leave(...holders());
  });

  it("may also use free slots of calls, so that a server that does not answer delays no other", async () => {
    const { holders, relayOf, servers, leave } = start();
    await servers("silent", "s2", "s3", "s4");
    expect(holders()).toEqual(["silent", "s2", "s3"]);
    expect(holders().map(relayOf)).toEqual([undefined, 0, 0]);
    expect(holders()).toHaveLength(TOOL_SERVERS.own + TOOL_SERVERS.guests);
    await leave("s2");
    expect(holders()).toEqual(["silent", "s3", "s4"]);
    await leave("silent", "s3", "s4");
  });

  it("have lower priority than calls for these slots", async () => {
    const { holders, calls, servers, leave } = start();
    await servers("s1", "s2", "s3");
    await calls("a", "b", "c");
    expect(holders()).toEqual(["s1", "s2", "s3", "a", "b"]);
    await leave("s2");
    expect(holders()).toEqual(["s1", "s3", "a", "b", "c"]);
    await leave(...holders());
  });

  it("use the first free slot", async () => {
    const { holders, calls, servers, leave } = start();
    await calls("a", "b", "c", "d");
    await servers("s1", "s2");
    await leave("b");
    expect(holders()).toEqual(["a", "c", "d", "s1", "s2"]);
    await servers("s3");
    await leave("s1");
    expect(holders()).toEqual(["a", "c", "d", "s2", "s3"]);
    await leave(...holders());
  });

  it("hold no slot after an abort", async () => {
    const { holders, calls, servers, enter, leave } = start();
    await calls("a", "b", "c", "d");
    await servers("s1");
    const user = new AbortController();
    const aborted = expect(enter(user.signal)).rejects.toThrow("cancelled");
    user.abort(new Error("cancelled"));
    await aborted;
    await leave("a", "b", "c", "d", "s1");
    await servers("s2", "s3", "s4");
    expect(holders()).toEqual(["s2", "s3", "s4"]);
    await leave(...holders());
    await calls("e", "f", "g", "h");
    expect(holders()).toHaveLength(CALL_SLOTS);
    await leave(...holders());
  });
});
