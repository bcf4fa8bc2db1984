import { afterEach, describe, expect, it, vi } from "vitest";
import { EffectRunner } from "../../src/engine/effect-runner";
import type { Performer } from "../../src/engine/ports";
import { Semaphore } from "../../src/async/semaphore";
import type { Effect, ModelCallEffect } from "../../src/coordination";

const underWay = (id: string, notBefore = 0): ModelCallEffect => ({
  type: "model_call",
  id,
  agent: 0,
  round: 1,
  purpose: "coordination",
  notBefore,
});
const call = (id: string, notBefore = 0): Effect => underWay(id, notBefore);
const tool = (id: string): Effect => ({
  type: "tool_call",
  id,
  agent: 0,
  round: 1,
  toolCall: "t",
  name: "look",
});
const PATIENCE = 45_000;
const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

/** A performer whose calls end on demand. */
function start(slots: number, refuses: ReadonlySet<string> = new Set()) {
  const [seen, dropped]: [string[], string[]] = [[], []];
  const open = new Map<string, { headers: () => void; sent: () => void; end: () => void }>();
  const performer: Performer = {
    admitCall: ({ id }, signal) => {
      if (!id.startsWith("waiting")) return null;
      const { promise, reject } = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => reject(signal.reason));
      seen.push(`waits ${id}`);
      return promise;
    },
    dropCall: ({ id }) => void dropped.push(id),
    prepareCall: ({ id }) => {
      if (refuses.has(id)) return null;
      if (id === "broken") throw new Error("cannot be put together");
      seen.push(`prepared ${id}`);
      return {
        send: (signal, { onHeaders, onSent, giveWay }) =>
          new Promise((resolve, reject) => {
            if (!id.startsWith("large")) onSent();
            open.set(id, {
              headers: onHeaders,
              sent: onSent,
              end: () => resolve(() => void seen.push(`settled ${id}`)),
            });
            giveWay.addEventListener("abort", () =>
              resolve(() => void seen.push(`failed ${id}: ${giveWay.reason}`)),
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
      seen.push(`taken up ${id}`);
      return { send: async () => () => void seen.push(`settled ${id}`) };
    },
    performTool: async ({ id }, _signal, enter) => {
      const headers = id.startsWith("inside") ? () => {} : (await enter()).onHeaders;
      seen.push(`tool ${id}`);
      await new Promise<void>((resolve) => open.set(id, { headers, sent: () => {}, end: resolve }));
    },
    listTools: async ({ id }) => void seen.push(`listing ${id}`),
  };
  const runner = new EffectRunner(performer, {
    slots: new Semaphore(slots, PATIENCE),
    building: new Semaphore(1, PATIENCE),
    patienceMs: PATIENCE,
    onFault: (error) => void seen.push(String(error).replace("Error: ", "fault ")),
  });
  const sync = async (owed: Effect[], inFlight: string[] = [], now = 0) => {
    void runner.sync(owed, inFlight, now);
    if (vi.isFakeTimers()) await vi.advanceTimersByTimeAsync(0);
    else await soon();
  };
  return { seen, dropped, open, sync, runner };
}

it("takes up a call that was under way, and tells its end like any other's", async () => {
  const { seen, runner } = start(1);
  await runner.resume(underWay("a"));
  expect(seen).toEqual(["taken up a", "settled a"]);
});

it("says so when a call under way cannot be taken up", () => {
  const { runner } = start(1, new Set(["a"]));
  expect(runner.resume(underWay("a"))).toBeNull();
});

it("performs each effect once, however often it is owed", async () => {
  const { seen, sync } = start(4);
  await sync([call("a")]);
  await sync([call("a")], []);
  await sync([], ["a"]);
  expect(seen).toEqual(["prepared a"]);
});

it("waits for nobody's body, only for headers: the next call goes when they are there", async () => {
  const { seen, open, sync } = start(1);
  await sync([call("a"), call("b")]);
  expect(seen).toEqual(["prepared a"]);
  open.get("a")?.headers();
  await soon();
  expect(seen).toEqual(["prepared a", "prepared b"]);
});

it("makes one request at a time: the next when it has left, or never will", async () => {
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

it("makes no request for what is no longer wanted when its turn comes", async () => {
  const { seen, open, sync } = start(4);
  await sync([call("large a"), call("b")]);
  await sync([], ["large a"]);
  open.get("large a")?.sent();
  await soon();
  expect(seen).toEqual(["prepared large a"]);
});

it("leaves alone what is not due", async () => {
  const { seen, sync } = start(4);
  await sync([call("later", 1_000)], [], 999);
  await sync([call("later", 1_000)], [], 1_000);
  expect(seen).toEqual(["prepared later"]);
});

it("aborts what is no longer wanted, sent or still queued, and settles neither", async () => {
  const { seen, sync } = start(1);
  await sync([call("a"), call("queued")]);
  await sync([], []);
  await sync([call("c")]);
  expect(seen).toEqual(["prepared a", "aborted a", "prepared c"]);
});

it("lets others go while a tool works whose server has begun to answer", async () => {
  const { seen, open, sync } = start(1);
  await sync([tool("tool_1"), call("b")]);
  expect(seen).toEqual(["tool tool_1"]);
  open.get("tool_1")?.headers();
  await soon();
  expect(seen).toEqual(["tool tool_1", "prepared b"]);
});

it("holds no slot for a tool that asks no server, and lets it go while all slots are taken", async () => {
  const { seen, open, sync } = start(1);
  await sync([tool("inside"), call("a"), tool("far"), tool("inside too")]);
  expect(seen).toEqual(["tool inside", "tool inside too", "prepared a"]);
  open.get("a")?.headers();
  await soon();
  expect(seen.at(-1)).toBe("tool far");
});

it("gives back the slot of a tool that ends without a word of headers", async () => {
  const { seen, open, sync } = start(1);
  await sync([tool("far"), tool("farther")]);
  open.get("far")?.end();
  await soon();
  expect(seen).toEqual(["tool far", "tool farther"]);
});

it("lets go of a tool that waits for a slot and is no longer wanted", async () => {
  const { seen, open, sync } = start(1);
  await sync([call("a"), tool("far")]);
  await sync([], ["a"]);
  open.get("a")?.end();
  await soon();
  expect(seen).toEqual(["prepared a", "settled a"]);
});

it("lists tools beside the calls: that has places of its own to wait in", async () => {
  const { seen, sync } = start(1);
  await sync([call("a"), call("queued"), { type: "tool_listing", id: "listing_1_1", agent: 0 }]);
  expect(seen).toEqual(["listing listing_1_1", "prepared a"]);
});

it("holds no slot for a call that waits for its backend's limits, and ends the wait with the need", async () => {
  const { seen, dropped, open, sync } = start(1);
  await sync([call("waiting"), call("b")]);
  expect(seen).toEqual(["waits waiting", "prepared b"]);
  await sync([], ["b"]);
  open.get("b")?.end();
  await soon();
  expect(seen).toEqual(["waits waiting", "prepared b", "settled b"]);
  expect(dropped).toEqual(["waiting", "b"]);
});

it("gives its slot back when the rules refuse a call", async () => {
  const { seen, sync } = start(1, new Set(["refused"]));
  await sync([call("refused"), call("b")]);
  expect(seen).toEqual(["prepared b"]);
});

it("tells a fault of our own and goes on", async () => {
  const { seen, open, sync } = start(1);
  await sync([call("broken"), call("b")]);
  open.get("b")?.end();
  await soon();
  expect(seen).toEqual(["fault cannot be put together", "prepared b", "settled b"]);
});

describe("a call that waits for headers while others wait for its slot", () => {
  const GAVE_WAY =
    "ProviderError: No response came for 45 s while other calls waited, so this one gave way to them.";
  const stalled = call("call_1_1_1_1_1_1");
  const again = call("call_1_1_1_1_1_2");
  const other = call("call_1_1_2_1_1_1");
  const third = call("call_1_1_3_1_1_1");
  afterEach(() => void vi.useRealTimers());

  const startPatiently = (slots: number) => {
    vi.useFakeTimers();
    return start(slots);
  };

  it("gives way and fails, and the other goes", async () => {
    const { seen, sync } = startPatiently(1);
    await sync([stalled, other]);
    await vi.advanceTimersByTimeAsync(PATIENCE);
    expect(seen).toEqual([
      `prepared ${stalled.id}`,
      `failed ${stalled.id}: ${GAVE_WAY}`,
      `prepared ${other.id}`,
    ]);
  });

  it("is left alone once its headers have come", async () => {
    const { seen, open, sync } = startPatiently(1);
    await sync([stalled, other]);
    open.get(stalled.id)?.headers();
    await vi.advanceTimersByTimeAsync(0);
    open.get(other.id)?.headers();
    await vi.advanceTimersByTimeAsync(3 * PATIENCE);
    expect(seen).toEqual([`prepared ${stalled.id}`, `prepared ${other.id}`]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("keeps its slot when it is tried again", async () => {
    const { seen, open, sync } = startPatiently(1);
    await sync([stalled, other]);
    await vi.advanceTimersByTimeAsync(PATIENCE);
    open.get(other.id)?.headers();
    await sync([again], [other.id]);
    await sync([third], [again.id, other.id]);
    seen.length = 0;
    await vi.advanceTimersByTimeAsync(3 * PATIENCE);
    expect(seen).toEqual([]);
    open.get(again.id)?.end();
    await vi.advanceTimersByTimeAsync(0);
    expect(seen).toEqual([`settled ${again.id}`, `prepared ${third.id}`]);
  });

  it("may give way again once all that is over", async () => {
    const { seen, open, sync } = startPatiently(1);
    await sync([stalled, other]);
    await vi.advanceTimersByTimeAsync(PATIENCE);
    open.get(other.id)?.end();
    await vi.advanceTimersByTimeAsync(0);
    await sync([]);
    seen.length = 0;
    await sync([again, third]);
    await vi.advanceTimersByTimeAsync(PATIENCE);
    expect(seen).toEqual([
      `prepared ${again.id}`,
      `failed ${again.id}: ${GAVE_WAY}`,
      `prepared ${third.id}`,
    ]);
  });
});
