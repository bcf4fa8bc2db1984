import { expect, it } from "vitest";
import { byDaysAhead } from "../troubles/campaign";
import { TROUBLES } from "../troubles/list";
import type { Trouble } from "../troubles/trouble";

/** A tenant's books are looked into when all troubles are over: none may make it forget what the others were charged. */
const WEEKS_MS = 21 * 86_400_000;
const PLAIN: Trouble = { row: "Clock", name: "any", kinds: ["story"] };

it.each<{ name: string; trouble: Partial<Trouble>; isAhead: boolean }>([
  { name: "weeks ahead from the start", trouble: { from: { skewMs: WEEKS_MS } }, isAhead: true },
  {
    name: "weeks ahead later",
    trouble: { steps: [{ afterMs: 5, orders: { skewMs: WEEKS_MS } }] },
    isAhead: true,
  },
  { name: "an hour ahead", trouble: { from: { skewMs: 3_600_000 } }, isAhead: false },
  { name: "weeks back", trouble: { from: { skewMs: -WEEKS_MS } }, isAhead: false },
  { name: "no clock at all", trouble: { steps: [{ afterMs: 5, kills: true }] }, isAhead: false },
])("a trouble with $name is played among the first: $isAhead", ({ trouble, isAhead }) => {
  const { ahead } = byDaysAhead([{ ...PLAIN, ...trouble }]);
  expect(ahead).toHaveLength(isAhead ? 1 : 0);
});

it("of all troubles none is left out, and only the year 2038 comes before its turn", () => {
  const { ahead, others } = byDaysAhead(TROUBLES);
  expect(ahead.map(({ name }) => name)).toEqual(["it is the year 2038"]);
  expect([...others, ...ahead]).toEqual(TROUBLES);
});
