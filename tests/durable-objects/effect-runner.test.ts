import { expect, it } from "vitest";
import { EffectRunner, type Performer } from "../../durable-objects/effect-runner";
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
const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

/** A performer whose calls end when they are told to. */
function start(slots: number, refuses: ReadonlySet<string> = new Set()) {
  const seen: string[] = [];
  const open = new Map<string, { headers: () => void; end: () => void }>();
  const performer: Performer = {
    prepareCall: ({ id }) => {
      if (refuses.has(id)) return null;
      if (id === "broken") throw new Error("cannot be put together");
      seen.push(`prepared ${id}`);
      return {
        send: (signal, onHeaders) =>
          new Promise((resolve, reject) => {
            open.set(id, { headers: onHeaders, end: () => resolve(() => void seen.push(`settled ${id}`)) });
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
    performTool: async ({ id }) => void seen.push(`tool ${id}`),
    onFault: (error) => void seen.push(`fault ${error instanceof Error ? error.message : error}`),
  };
  const runner = new EffectRunner(performer, slots);
  const sync = async (owed: Effect[], inFlight: string[] = [], now = 0) => {
    for (const run of runner.sync(owed, inFlight, now)) void run;
    await soon();
  };
  return { seen, open, sync, runner };
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
