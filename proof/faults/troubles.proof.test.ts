import { beforeAll, describe, expect, it } from "vitest";
import { countOf, rotated } from "../counts";
import { type TroubleFigures, troubles } from "./troubles/campaign";
import { TROUBLES } from "./troubles/list";
import { toTroubleReport } from "./troubles/report";

/**
 * Faults of storage, the alarm and the clock (robustness.md §3: R2 and D1, alarm, clock, eviction).
 */
const WANTED = rotated(TROUBLES, countOf("storage_faults"));
const ROUNDS = countOf("storage_fault_rounds");
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);

describe(`runs of the real service end as they should (KILL_SEED=${SEED})`, () => {
  let figures: TroubleFigures;
  beforeAll(async () => {
    figures = await troubles({ seed: SEED, each: ROUNDS, from: WANTED });
    console.log(toTroubleReport(figures));
  }, 900_000 * ROUNDS);

  it.each(WANTED)("$row: $name", ({ name }) => {
    expect(figures.failures.filter((failure) => failure.name === name)).toEqual([]);
  });

  it("and no turn's place or money is lost on the way, nor a key left on disk", () => {
    expect(
      figures.failures.filter(({ name }) => !TROUBLES.some((trouble) => trouble.name === name)),
    ).toEqual([]);
    expect(figures.rows.reduce((sum, row) => sum + row.troubles, 0)).toBe(WANTED.length * ROUNDS);
  });
});
