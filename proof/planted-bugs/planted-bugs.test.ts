import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { plantBug } from "./bundle";
import { INVARIANTS } from "../../checker/invariants";
import { OUTSIDE } from "../simulation/engine/invariants";
import { PLANTED_BUGS } from "./planted-bugs";

describe("the table of planted bugs", () => {
  it.each(PLANTED_BUGS)("can plant the bug in the current code: $name", async (bug) => {
    const source = await readFile(path.resolve(bug.file), "utf8");
    expect(plantBug(source, bug)).not.toBe(source);
  });

  it("has at least one bug for each invariant whose id begins with I and a digit", () => {
    const simulated = [...INVARIANTS.map(({ id }) => id), ...OUTSIDE.map(([id]) => id)].filter(
      (id) => /^I\d/.test(id),
    );
    const intended = new Set(PLANTED_BUGS.map(({ invariant }) => invariant));
    expect(new Set(simulated).size).toBeGreaterThanOrEqual(21);
    expect(simulated.filter((id) => !intended.has(id))).toEqual([]);
  });
});
