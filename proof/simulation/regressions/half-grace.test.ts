import { expect, it } from "vitest";
import { rulesSituationOf } from "../world/rules-situation";
import { verify } from "../world/verify";

// In this session the half of a failing member's grace is no whole number of milliseconds.
it("a failing member may be called again in the millisecond in which half of its grace ends", () => {
  expect(verify(rulesSituationOf(1489)).problems).toEqual([]);
});
