import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import {
  DATA_FOLDER,
  type FigureFile,
  figureNamed,
  MARKER,
  placeFigures,
  readFigures,
} from "./figures";
import { hostingCost } from "./hosting-cost";
import { PAGES_WITH_FIGURES } from "./pages";

const figureRecord = (data: FigureFile[string]["data"], lines?: FigureFile[string]["lines"]) => ({
  command: "npm run bench",
  takenAt: "2026-11-23",
  commit: "abc",
  machine: "2 × CPU",
  ...(lines && { lines }),
  data,
});
const LINE = { figure: "  quick", measured: "3 ms", runs: "7", bound: "2 ms" };
const FILE: FigureFile = {
  quick: figureRecord({ ms: { median: 12.34 }, readers: [{ count: 1000 }] }, [
    LINE,
    { ...LINE, figure: "slow", aim: "< 5: met" },
  ]),
};
const read = () => FILE;

describe("figures in documents", () => {
  it.each([
    ["bench.quick.ms.median", "12.34"],
    ["bench.quick.ms.median .1", "12.3"],
    ["bench.quick.ms.median .0", "12"],
    ["bench.quick.readers.0.count", "1,000"],
    ["bench.quick@commit", "abc"],
    ["bench.quick@lines.1.aim", "< 5: met"],
  ])("the marker %s shows %s", (name, shown) => {
    const text = `It takes <!-- figure: ${name} -->old<!-- /figure --> ms.`;
    expect(placeFigures(text, read)).toBe(
      `It takes <!-- figure: ${name} -->${shown}<!-- /figure --> ms.`,
    );
  });

  it.each([
    "bench.none.ms",
    "bench.quick.none",
    "bench.quick.ms",
    "bench.quick@none",
    "bench.quick@lines.0.aim",
  ])("refuses %s, which is no figure", (name) => {
    expect(() => figureNamed(name, read)).toThrow();
  });

  it("a figure of a new measurement is not recorded yet", () => {
    const text = "<!-- figure: bench.new.ms.median .1 -->3.0<!-- /figure -->";
    const placed = "<!-- figure: bench.new.ms.median .1 -->not recorded yet<!-- /figure -->";
    expect(placeFigures(text, read)).toBe(placed);
  });

  it("a table contains every line of a file, and does not change if it is written again", () => {
    const text = "Before\n\n<!-- lines: bench -->\nold\n<!-- /lines -->\n\nAfter\n";
    const placed = placeFigures(text, read);
    expect(placed).toContain("| quick | 3 ms | 7 | 2 ms | – |");
    expect(placed).toContain("| slow | 3 ms | 7 | 2 ms | < 5: met |");
    expect(placeFigures(placed, read)).toBe(placed);
  });

  it("a table of a record is placed, and a sentence if the record does not exist", () => {
    const text = "<!-- table: bench.peers -->\nold\n<!-- /table -->\n";
    expect(placeFigures(text, read)).toContain("Not recorded yet.");
    const peers = figureRecord({ table: { head: ["Agents", "Calls"], rows: [["3", "7"]] } });
    const placed = placeFigures(text, () => ({ peers }));
    expect(placed).toBe(
      "<!-- table: bench.peers -->\n\n| Agents | Calls |\n|---|---|\n| 3 | 7 |\n\n<!-- /table -->\n",
    );
    expect(placeFigures(placed, () => ({ peers }))).toBe(placed);
  });

  it("refuses a record without a table", () => {
    const text = "<!-- table: bench.quick -->\nold\n<!-- /table -->\n";
    expect(() => placeFigures(text, read)).toThrow();
  });

  it("every file with figures is well formed", () => {
    const files = readdirSync(DATA_FOLDER).map((file) => path.basename(file, ".json"));
    expect(files).toContain("bench");
    for (const file of files) expect(Object.keys(readFigures(file))).not.toEqual([]);
  });

  it("the cost of a run is the sum of its parts", () => {
    const { data } = hostingCost(readFigures("bench"))["run"] ?? {};
    const parts = Object.entries(data ?? {}).filter(([name]) => /^[a-z]+Usd$/.test(name));
    const sum = parts.reduce((total, [, usd]) => total + Number(usd), 0);
    expect(parts).toHaveLength(4);
    expect(figureNamed("hosting.run.usd", () => hostingCost(readFigures("bench")))).toBeCloseTo(
      sum,
    );
  });
});

const UNITS =
  "ms|s|µs|[KMG]i?B|%|tests|kills|seeds|sessions|runs|readers|events|disconnects|bugs|rows";
/** Numbers in definitions and aims, which are not measured. */
const EXCEPTIONS = /aim (?:is )?[\d.,]+ (?:ms|s)|95 % of events/g;

/** Finds numbers with a unit that are not between the markers of a figure. */
const measuredByHand = (text: string): string[] => {
  const prose = text
    .replaceAll(/^```.*?^```/gms, "")
    .replaceAll(MARKER, "")
    .replaceAll(EXCEPTIONS, "");
  return prose.match(new RegExp(`\\b\\d[\\d.,]*\\s(?:${UNITS})(?![\\w-])`, "g")) ?? [];
};

describe("measurements that are written by hand", () => {
  it("are found", () => {
    const text = "It takes 12 ms, and <!-- figure: a.b.c -->13<!-- /figure --> ms, in 1,000 runs.";
    expect(measuredByHand(text)).toEqual(["12 ms", "1,000 runs"]);
  });

  it("are not in the README", () => {
    expect(measuredByHand(readFileSync("README.md", "utf8"))).toEqual([]);
  });

  it("no page outside the list has markers of figures", () => {
    const pages = readdirSync("docs", { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".md"))
      .map((file) => path.join("docs", file));
    const pagesWithMarkers = pages.filter((file) =>
      /<!-- (?:figure|lines): /.test(readFileSync(file, "utf8")),
    );
    expect(pagesWithMarkers.filter((file) => !PAGES_WITH_FIGURES.includes(file))).toEqual([]);
  });
});
