import { expect, it } from "vitest";
import { type ContractResult, drawTable } from "./contract-table";

const result = (
  format: string,
  group: string,
  name: string,
  state: ContractResult["state"] = "passed",
): ContractResult => ({
  format,
  group,
  name,
  state,
});

it("lists cases under their groups, with one column per format and a mark for missing cases", () => {
  const table = drawTable([
    result("Ask", "replies", "gives a text"),
    result("Ask", "errors", "classifies a wrong key", "failed"),
    result("Tell", "replies", "gives a text"),
    result("Tell", "hosted tools", "are told", "skipped"),
  ]);
  expect(table.split("\n")).toEqual([
    "Provider contract: 1 Ask · 2 Tell",
    "                          1  2",
    "replies",
    "  gives a text            ✓  ✓",
    "errors",
    "  classifies a wrong key  ✗  –",
    "hosted tools",
    "  are told                –  s",
  ]);
});

it("shows the worse result if two tests have the same name", () => {
  const both = [result("Ask", "g", "n"), result("Ask", "g", "n", "failed")];
  expect(drawTable(both)).toContain("✗");
  expect(drawTable(both)).not.toContain("✓");
});
