import { mkdtemp, rm } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { FigureFileSchema } from "../scripts/reference/figures";
import { commandOf, recordFigures } from "./record-figures";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "massgen-figures-"));
});
afterAll(() => rm(folder, { recursive: true }));

const stored = () =>
  FigureFileSchema.parse(JSON.parse(readFileSync(path.join(folder, "bench.json"), "utf8")));

it("replaces the record of the same name, keeps the others, and sorts them in the given order", async () => {
  const order = ["first", "second", "third"];
  await recordFigures("bench", { third: { data: { ms: 3 } } }, { order, folder });
  await recordFigures("bench", { first: { data: { ms: 1 } } }, { order, folder });
  await recordFigures("bench", { third: { data: { ms: 4, none: undefined } } }, { order, folder });
  expect(Object.entries(stored()).map(([name, { data }]) => [name, data])).toEqual([
    ["first", { ms: 1 }],
    ["third", { ms: 4 }],
  ]);
  expect(stored()["first"]?.takenAt).toMatch(/^\d{4}-\d\d-\d\d$/);
});

it.each([
  ["bench", ["--only", "kill", "--record"], "npm run bench -- --only kill"],
  ["simulate", ["--record"], "npm run simulate"],
  ["bench", ["--seed", "7", "--json", "results.json"], "npm run bench -- --seed 7"],
  ["bench", ["--json=results.json"], "npm run bench"],
])("the script %s with the arguments %j is recorded as the command %j", (script, args, command) => {
  expect(commandOf(script, args)).toBe(command);
});
