import { beforeAll, describe, expect, it } from "vitest";
import { countOf, rotated } from "../counts";
import { type StorageFaultFigures, playStorageFaults } from "./storage-faults/campaign";
import { STORAGE_FAULTS } from "./storage-faults/list";
import { toStorageFaultReport } from "./storage-faults/report";

/**
 * Faults of storage, the alarm and the clock. They test these rows of robustness.md §3: R2 and D1,
 * alarm, clock, eviction.
 */
const WANTED = rotated(STORAGE_FAULTS, countOf("storage_faults"));
const ROUNDS = countOf("storage_fault_rounds");
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);

describe(`runs of the real service end as they should (KILL_SEED=${SEED})`, () => {
  let figures: StorageFaultFigures;
  beforeAll(async () => {
    figures = await playStorageFaults({ seed: SEED, each: ROUNDS, from: WANTED });
    console.log(toStorageFaultReport(figures));
  }, 900_000 * ROUNDS);

  it.each(WANTED)("$row: $name", ({ name }) => {
    expect(figures.failures.filter((failure) => failure.name === name)).toEqual([]);
  });

  it("and no lease, charge or key is left over", () => {
    expect(
      figures.failures.filter(({ name }) => !STORAGE_FAULTS.some((fault) => fault.name === name)),
    ).toEqual([]);
    expect(figures.rows.reduce((sum, row) => sum + row.faults, 0)).toBe(WANTED.length * ROUNDS);
  });
});
