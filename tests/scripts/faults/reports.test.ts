import { describe, expect, it } from "vitest";
import { toClientReport } from "../../../scripts/faults/clients/report";
import { commandOf } from "../../../scripts/faults/kills/evidence";
import { parsePoint } from "../../../scripts/faults/kills/points";
import { toTroubleReport } from "../../../scripts/faults/troubles/report";

const linesOf = (report: string): string[] => report.split("\n").map((line) => line.trim());

describe("what failed is shown with the command that plays it again", () => {
  it("a case of kills, at its moments and places", () => {
    const kills = [{ afterMs: 40 }, parsePoint("commit.open/vote.cast:2")];
    expect(commandOf({ seed: 5, kinds: ["story", "erased"], kills, isWanted: false })).toBe(
      "npm run faults -- --seed 5 --runs story,erased --at 40ms,commit.open/vote.cast:2",
    );
  });

  it("one trouble with the seed of its round, and the books with all of them", () => {
    const failures = [
      { name: "it is the year 2038", seed: 8, problems: ["I13: it is not over"] },
      { name: "the tenant's books", seed: 7, problems: ["I12: $1 were charged"] },
    ];
    const lines = linesOf(toTroubleReport({ seed: 7, rows: [], failures, seconds: 1 }));
    expect(lines).toContain('again: npm run faults -- --storage --seed 8 --only "it is the year 2038"');
    expect(lines).toContain("again: npm run faults -- --storage --seed 7");
  });

  it("one kind of client, histories by their number", () => {
    const scenes = [{ name: "3 histories", problems: ["I1: event 4"], seconds: 1 }];
    const lines = linesOf(toClientReport({ seed: 7, histories: 3, scenes, loud: null, seconds: 1 }));
    expect(lines).toContain('again: npm run faults -- --clients 3 --seed 7 --only "3 histories"');
  });
});
