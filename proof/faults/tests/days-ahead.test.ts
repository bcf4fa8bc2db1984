import { expect, it } from "vitest";
import { byDaysAhead } from "../storage-faults/campaign";
import { STORAGE_FAULTS } from "../storage-faults/list";
import type { StorageFault } from "../storage-faults/storage-fault";

/**
 * The order of the storage faults. The tenant's ledger is read after all faults, so no fault may
 * make the tenant forget earlier charges.
 */
const WEEKS_MS = 21 * 86_400_000;
const PLAIN: StorageFault = { row: "Clock", name: "any", kinds: ["story"] };

it.each<{ name: string; fault: Partial<StorageFault>; isAhead: boolean }>([
  {
    name: "a clock weeks ahead from the start",
    fault: { from: { skewMs: WEEKS_MS } },
    isAhead: true,
  },
  {
    name: "a clock weeks ahead at a later step",
    fault: { steps: [{ afterMs: 5, orders: { skewMs: WEEKS_MS } }] },
    isAhead: true,
  },
  { name: "a clock an hour ahead", fault: { from: { skewMs: 3_600_000 } }, isAhead: false },
  { name: "a clock weeks back", fault: { from: { skewMs: -WEEKS_MS } }, isAhead: false },
  { name: "an unchanged clock", fault: { steps: [{ afterMs: 5, kills: true }] }, isAhead: false },
])("a fault with $name comes first: $isAhead", ({ fault, isAhead }) => {
  const { ahead } = byDaysAhead([{ ...PLAIN, ...fault }]);
  expect(ahead).toHaveLength(isAhead ? 1 : 0);
});

it("no fault is left out, and only the year 2038 comes first", () => {
  const { ahead, others } = byDaysAhead(STORAGE_FAULTS);
  expect(ahead.map(({ name }) => name)).toEqual(["it is the year 2038"]);
  expect(new Set([...others, ...ahead])).toEqual(new Set(STORAGE_FAULTS));
});
