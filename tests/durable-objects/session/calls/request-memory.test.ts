import { expect, it } from "vitest";
import { RequestMemory } from "../../../../durable-objects/session/calls/request-memory";

const UNIT = 1_000;
const never = new AbortController().signal;
const nextTick = () => new Promise((resolve) => setTimeout(resolve, 0));
const memoryOf = (units: number, maxHoldMs = 45_000) =>
  new RequestMemory({ unitBytes: UNIT, units, maxHoldMs });

/** Whether a request of this size gets memory at once. */
async function fits(memory: RequestMemory, bytes: number): Promise<boolean> {
  const abort = new AbortController();
  const held = memory.hold(bytes, abort.signal, null).then(
    (release) => {
      release();
      return true;
    },
    () => false,
  );
  await nextTick();
  abort.abort(new Error("enough"));
  return held;
}

it.each([
  { name: "fits while there are units", held: [2 * UNIT], bytes: 2 * UNIT, isGranted: true },
  { name: "waits if too few units are left", held: [2 * UNIT, UNIT], bytes: 2 * UNIT },
  {
    name: "smaller than a unit never waits",
    held: [2 * UNIT, 2 * UNIT],
    bytes: 999,
    isGranted: true,
  },
  {
    name: "larger than the memory takes half of it",
    held: [90 * UNIT],
    bytes: 90 * UNIT,
    isGranted: true,
  },
  { name: "larger than the memory waits for half of it", held: [2 * UNIT, UNIT], bytes: 90 * UNIT },
])("a request $name", async ({ held, bytes, isGranted = false }) => {
  const memory = memoryOf(4);
  for (const size of held) await memory.hold(size, never, () => undefined);
  expect(await fits(memory, bytes)).toBe(isGranted);
});

it("a request that is aborted while it waits takes no units", async () => {
  const memory = memoryOf(4);
  const release = await memory.hold(2 * UNIT, never, () => undefined);
  await memory.hold(UNIT, never, () => undefined);
  expect(await fits(memory, 2 * UNIT)).toBe(false);
  release();
  expect(await fits(memory, 2 * UNIT)).toBe(true);
});

it("a request that holds memory for too long is asked to yield it", async () => {
  const memory = memoryOf(4, 5);
  let yields = 0;
  const release = await memory.hold(2 * UNIT, never, () => {
    yields += 1;
    release();
  });
  await memory.hold(2 * UNIT, never, null);
  await memory.hold(2 * UNIT, never, () => undefined);
  expect(yields).toBe(1);
});
