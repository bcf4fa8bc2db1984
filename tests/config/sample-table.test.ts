import { expect, it } from "vitest";
import { drawSamples } from "./sample-table";

it("shows files that run before those that are refused, each with what it needs", () => {
  const table = drawSamples([
    { file: "tools/shell.yaml", needs: ["shell", "workspace"] },
    { file: "two.yaml", needs: [] },
    { file: "one.yaml", needs: [] },
  ]);
  expect(table.split("\n")).toEqual([
    "Sample configs: 2 of 3 run",
    "  one.yaml          runs",
    "  two.yaml          runs",
    "  tools/shell.yaml  refused: shell, workspace",
  ]);
});
