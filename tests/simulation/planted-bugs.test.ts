import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { planted } from "../../scripts/planted-bugs/bundle";
import { PLANTED_BUGS } from "./planted-bugs";

describe("the table of planted bugs", () => {
  it.each(PLANTED_BUGS)("still fits the code: $name", async (bug) => {
    const source = await readFile(path.resolve(bug.file), "utf8");
    expect(planted(source, bug)).not.toBe(source);
  });

  it("has at least one bug for each invariant that is simulated", () => {
    const ids = new Set(PLANTED_BUGS.map(({ invariant }) => invariant.split("-")[0]));
    const simulated = ["I1", "I2", "I3", "I5", "I6", "I8", "I9", "I10", "I11", "I12", "I13", "I14", "I15", "I19", "I21", "I22"];
    expect(simulated.filter((id) => !ids.has(id))).toEqual([]);
    expect(PLANTED_BUGS.length).toBeGreaterThanOrEqual(20);
  });
});
