import fc from "fast-check";
import { expect, it } from "vitest";
import { RelaySlots } from "../../../../durable-objects/session/calls/relay-slots";
import type { RelaySlot } from "../../../../src/engine/ports";

const MAX_HOLD_MS = 45_000;
const never = new AbortController().signal;
const nextTick = () => new Promise((resolve) => setTimeout(resolve, 0));

const relaysOf = (slots: readonly RelaySlot[]) => slots.map(({ relay }) => relay);
const start = (relays: number, slotsPerRelay: number) => {
  const slots = new RelaySlots({ relays, slotsPerRelay, maxHoldMs: MAX_HOLD_MS });
  return { take: () => slots.acquire(never, () => {}) };
};

it("a caller gets a slot of the first relay that has a free one", async () => {
  const { take } = start(3, 2);
  const slots = [await take(), await take(), await take(), await take()];
  expect(relaysOf(slots)).toEqual([0, 0, 1, 1]);
  slots[1]?.release();
  expect(relaysOf([await take(), await take()])).toEqual([0, 2]);
  for (const { release } of slots) release();
});

it("a caller waits while the slots of all relays are in use, and gets the slot that is released", async () => {
  const { take } = start(2, 1);
  const slots = [await take(), await take()];
  const granted: RelaySlot[] = [];
  void take().then((slot) => granted.push(slot));
  await nextTick();
  expect(granted).toEqual([]);
  slots[1]?.release();
  await nextTick();
  expect(relaysOf(granted)).toEqual([1]);
});

it("a slot that is released twice becomes free once", async () => {
  const { take } = start(1, 2);
  const first = await take();
  await take();
  first.release();
  first.release();
  await take();
  const fourth = take().then(() => "granted");
  expect(await Promise.race([fourth, nextTick().then(() => "waiting")])).toBe("waiting");
});

it("no relay ever has more requests than slots, whatever the order of callers and releases", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ takes: fc.boolean(), which: fc.nat(20) }), { maxLength: 60 }),
      async (steps) => {
        const { take } = start(3, 2);
        const held: RelaySlot[] = [];
        for (const { takes, which } of steps) {
          if (takes) void take().then((slot) => held.push(slot));
          else held.splice(which % Math.max(1, held.length), 1)[0]?.release();
          await nextTick();
          for (const relay of [0, 1, 2])
            expect(held.filter((slot) => slot.relay === relay).length).toBeLessThanOrEqual(2);
        }
      },
    ),
    { numRuns: 30 },
  );
});
