import { afterEach, describe, expect, it, vi } from "vitest";
import { EffectRunner } from "../../src/engine/effect-runner";
import type { Performer } from "../../src/engine/ports";
import { RelaySlots } from "../../durable-objects/session/calls/relay-slots";
import { RequestMemory } from "../../durable-objects/session/calls/request-memory";
import { Semaphore } from "../../src/async/semaphore";
import type { Effect, ModelCallEffect } from "../../src/coordination";

const modelCall = (id: string, notBefore = 0): ModelCallEffect => ({
  type: "model_call",
  id,
  agent: 0,
  round: 1,
  purpose: "coordination",
  notBefore,
});
const call = (id: string, notBefore = 0): Effect => modelCall(id, notBefore);
const tool = (id: string): Effect => ({
  type: "tool_call",
  id,
  agent: 0,
  round: 1,
  toolCall: "t",
  name: "look",
});
const HEADER_LIMIT_MS = 45_000;
/** A runner has four units of memory for requests. */
const UNIT_BYTES = 1_000;
const rejectedBy = (signal: AbortSignal) =>
  new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
const bytesOf = (id: string): number => (id.startsWith("huge") ? 2 * UNIT_BYTES : 0);
const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

/**
 * A runner whose performer records its steps in `seen`. `open`: functions that let a call go on. An
 * id decides the behaviour: "waiting …" waits for a rate limit, "large …" takes long to build,
 * "huge …" takes half of the memory for requests, "broken" throws, "inside …" is a tool without
 * requests. `refuses`: calls that the rules refuse.
 */
function start(slots: number, refuses: ReadonlySet<string> = new Set()) {
  const [seen, dropped]: [string[], string[]] = [[], []];
  const open = new Map<string, { headers: () => void; sent: () => void; end: () => void }>();
  const performer: Performer = {
    admitCall: ({ id }, signal) => {
      if (!id.startsWith("waiting")) return null;
      seen.push(`waits ${id}`);
      return rejectedBy(signal);
    },
    dropCall: ({ id }) => void dropped.push(id),
    prepareCall: ({ id }) => {
      if (refuses.has(id)) return null;
      if (id === "broken") throw new Error("cannot be put together");
      seen.push(`prepared ${id}`);
      return {
        send: (signal, { onHeaders, onBuilt, yieldSignal }) =>
          new Promise((resolve, reject) => {
            const sent = () => void onBuilt(bytesOf(id)).catch(() => undefined);
            if (!id.startsWith("large")) sent();
            open.set(id, {
              headers: onHeaders,
              sent,
              end: () => resolve(() => void seen.push(`settled ${id}`)),
            });
            yieldSignal.addEventListener("abort", () =>
              resolve(() => void seen.push(`failed ${id}: ${yieldSignal.reason}`)),
            );
            signal.addEventListener("abort", () => {
              seen.push(`aborted ${id}`);
              reject(signal.reason);
            });
          }),
      };
    },
    resumeCall: ({ id }) => {
      if (refuses.has(id)) return null;
      seen.push(`resumed ${id}`);
      return { send: async () => () => void seen.push(`settled ${id}`) };
    },
    performTool: async ({ id }, _signal, acquireSlot) => {
      const headers = id.startsWith("inside") ? () => {} : (await acquireSlot()).onHeaders;
      seen.push(`tool ${id}`);
      await new Promise<void>((end) => open.set(id, { headers, sent: () => {}, end }));
    },
    listTools: async ({ id }) => void seen.push(`listing ${id}`),
  };
  const runner = new EffectRunner(performer, {
    slots: new RelaySlots({ relays: 1, slotsPerRelay: slots, maxHoldMs: HEADER_LIMIT_MS }),
    building: new Semaphore(1, HEADER_LIMIT_MS),
    memory: new RequestMemory({ unitBytes: UNIT_BYTES, units: 4, maxHoldMs: HEADER_LIMIT_MS }),
    maxHoldMs: HEADER_LIMIT_MS,
    onFault: (error) => void seen.push(String(error).replace("Error: ", "fault ")),
  });
  const sync = async (owed: Effect[], inFlight: string[] = [], now = 0) => {
    void runner.sync(owed, inFlight, now);
    if (vi.isFakeTimers()) await vi.advanceTimersByTimeAsync(0);
    else await soon();
  };
  return { seen, dropped, open, sync, runner };
}

it("resumes a call that was in flight, and reports its end", async () => {
  const { seen, runner } = start(1);
  await runner.resume(modelCall("a"));
  expect(seen).toEqual(["resumed a", "settled a"]);
});

it("returns null for a call that cannot be resumed", () => {
  const { runner } = start(1, new Set(["a"]));
  expect(runner.resume(modelCall("a"))).toBeNull();
});

it("performs each effect once, however often it is owed", async () => {
  const { seen, sync } = start(4);
  await sync([call("a")]);
  await sync([call("a")], []);
  await sync([], ["a"]);
  expect(seen).toEqual(["prepared a"]);
});

it("starts the next call when the headers of the call before have arrived, not its whole reply", async () => {
  const { seen, open, sync } = start(1);
  await sync([call("a"), call("b")]);
  expect(seen).toEqual(["prepared a"]);
  open.get("a")?.headers();
  await soon();
  expect(seen).toEqual(["prepared a", "prepared b"]);
});

it("builds one request at a time, and the next one when the request before was sent or has failed", async () => {
  const { seen, open, sync } = start(4);
  await sync([call("large a"), call("large b"), call("c")]);
  expect(seen).toEqual(["prepared large a"]);
  open.get("large a")?.sent();
  await soon();
  expect(seen).toEqual(["prepared large a", "prepared large b"]);
  open.get("large b")?.end();
  await soon();
  expect(seen).toEqual(["prepared large a", "prepared large b", "settled large b", "prepared c"]);
});

it("builds no request while the requests that wait for headers take all memory", async () => {
  const { seen, open, sync } = start(6);
  await sync([call("huge a"), call("huge b"), call("huge c"), call("d")]);
  // c is built, and waits for memory; d is not built before c is sent.
  expect(seen).toEqual(["prepared huge a", "prepared huge b", "prepared huge c"]);
  open.get("huge a")?.headers();
  await soon();
  expect(seen).toEqual([...["a", "b", "c"].map((name) => `prepared huge ${name}`), "prepared d"]);
});

it("does not prepare a call that is no longer owed when the request before was sent", async () => {
  const { seen, open, sync } = start(4);
  await sync([call("large a"), call("b")]);
  await sync([], ["large a"]);
  open.get("large a")?.sent();
  await soon();
  expect(seen).toEqual(["prepared large a"]);
});

it("does not start an effect before it is due", async () => {
  const { seen, sync } = start(4);
  await sync([call("later", 1_000)], [], 999);
  await sync([call("later", 1_000)], [], 1_000);
  expect(seen).toEqual(["prepared later"]);
});

it("aborts sent and waiting effects that are no longer owed, and reports no end for them", async () => {
  const { seen, sync } = start(1);
  await sync([call("a"), call("queued")]);
  await sync([], []);
  await sync([call("c")]);
  expect(seen).toEqual(["prepared a", "aborted a", "prepared c"]);
});

it("frees the slot of a tool when its server has sent headers", async () => {
  const { seen, open, sync } = start(1);
  await sync([tool("tool_1"), call("b")]);
  expect(seen).toEqual(["tool tool_1"]);
  open.get("tool_1")?.headers();
  await soon();
  expect(seen).toEqual(["tool tool_1", "prepared b"]);
});

it("runs a tool without requests while all slots are in use, because it needs no slot", async () => {
  const { seen, open, sync } = start(1);
  await sync([tool("inside"), call("a"), tool("far"), tool("inside too")]);
  expect(seen).toEqual(["tool inside", "tool inside too", "prepared a"]);
  open.get("a")?.headers();
  await soon();
  expect(seen.at(-1)).toBe("tool far");
});

it("frees the slot of a tool that ends without headers", async () => {
  const { seen, open, sync } = start(1);
  await sync([tool("far"), tool("farther")]);
  open.get("far")?.end();
  await soon();
  expect(seen).toEqual(["tool far", "tool farther"]);
});

it("drops a tool that waits for a slot when it is no longer owed", async () => {
  const { seen, open, sync } = start(1);
  await sync([call("a"), tool("far")]);
  await sync([], ["a"]);
  open.get("a")?.end();
  await soon();
  expect(seen).toEqual(["prepared a", "settled a"]);
});

it("lists tools while calls use all slots, because listings have separate slots", async () => {
  const { seen, sync } = start(1);
  await sync([call("a"), call("queued"), { type: "tool_listing", id: "listing_1_1", agent: 0 }]);
  expect(seen).toEqual(["listing listing_1_1", "prepared a"]);
});

it("uses no slot for a call that waits for a rate limit, and ends its wait when it is no longer owed", async () => {
  const { seen, dropped, open, sync } = start(1);
  await sync([call("waiting"), call("b")]);
  expect(seen).toEqual(["waits waiting", "prepared b"]);
  await sync([], ["b"]);
  open.get("b")?.end();
  await soon();
  expect(seen).toEqual(["waits waiting", "prepared b", "settled b"]);
  expect(dropped).toEqual(["waiting", "b"]);
});

it("frees the slot of a call that the rules refuse", async () => {
  const { seen, sync } = start(1, new Set(["refused"]));
  await sync([call("refused"), call("b")]);
  expect(seen).toEqual(["prepared b"]);
});

it("reports an internal error and continues", async () => {
  const { seen, open, sync } = start(1);
  await sync([call("broken"), call("b")]);
  open.get("b")?.end();
  await soon();
  expect(seen).toEqual(["fault cannot be put together", "prepared b", "settled b"]);
});

describe("a call that waits for headers while other calls wait for its slot", () => {
  const YIELD_MESSAGE =
    "ProviderError: No response after 45 s while other calls waited for a slot, so the call was aborted.";
  const stalled = call("call_1_1_1_1_1_1");
  const secondTry = call("call_1_1_1_1_1_2");
  const other = call("call_1_1_2_1_1_1");
  const third = call("call_1_1_3_1_1_1");
  afterEach(() => void vi.useRealTimers());

  const startWithFakeTimers = (slots: number) => {
    vi.useFakeTimers();
    return start(slots);
  };

  it("yields and fails, and the other call starts", async () => {
    const { seen, sync } = startWithFakeTimers(1);
    await sync([stalled, other]);
    await vi.advanceTimersByTimeAsync(HEADER_LIMIT_MS);
    expect(seen).toEqual([
      `prepared ${stalled.id}`,
      `failed ${stalled.id}: ${YIELD_MESSAGE}`,
      `prepared ${other.id}`,
    ]);
  });

  it("is not interrupted once its headers have arrived", async () => {
    const { seen, open, sync } = startWithFakeTimers(1);
    await sync([stalled, other]);
    open.get(stalled.id)?.headers();
    await vi.advanceTimersByTimeAsync(0);
    open.get(other.id)?.headers();
    await vi.advanceTimersByTimeAsync(3 * HEADER_LIMIT_MS);
    expect(seen).toEqual([`prepared ${stalled.id}`, `prepared ${other.id}`]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("does not yield its slot again in its second try", async () => {
    const { seen, open, sync } = startWithFakeTimers(1);
    await sync([stalled, other]);
    await vi.advanceTimersByTimeAsync(HEADER_LIMIT_MS);
    open.get(other.id)?.headers();
    await sync([secondTry], [other.id]);
    await sync([third], [secondTry.id, other.id]);
    seen.length = 0;
    await vi.advanceTimersByTimeAsync(3 * HEADER_LIMIT_MS);
    expect(seen).toEqual([]);
    open.get(secondTry.id)?.end();
    await vi.advanceTimersByTimeAsync(0);
    expect(seen).toEqual([`settled ${secondTry.id}`, `prepared ${third.id}`]);
  });

  it("may yield again after no effect was owed for a moment", async () => {
    const { seen, open, sync } = startWithFakeTimers(1);
    await sync([stalled, other]);
    await vi.advanceTimersByTimeAsync(HEADER_LIMIT_MS);
    open.get(other.id)?.end();
    await vi.advanceTimersByTimeAsync(0);
    await sync([]);
    seen.length = 0;
    await sync([secondTry, third]);
    await vi.advanceTimersByTimeAsync(HEADER_LIMIT_MS);
    expect(seen).toEqual([
      `prepared ${secondTry.id}`,
      `failed ${secondTry.id}: ${YIELD_MESSAGE}`,
      `prepared ${third.id}`,
    ]);
  });
});
