import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import { processFigures } from "../soak/process-figures";
import { HEADER, RowFile, type SoakRow, toCsv } from "../soak/soak-rows";

const folder = mkdtempSync(path.join(tmpdir(), "massgen-soak-rows-"));
afterAll(() => rmSync(folder, { recursive: true }));

const ROW: SoakRow = {
  minutes: 1.25,
  isAtRest: false,
  ended: 31,
  heap: { used: 10, buffers: 20, embedder: 30, total: 40 },
  process: { resident: 50, anonymous: 60, threads: 3, descriptors: 9, sockets: 5, databases: 2 },
  disk: 70,
  own: 80,
};

it.each([
  { name: "all values", row: ROW, line: "1.25,0,31,10,20,30,40,50,60,3,9,5,2,70,80" },
  {
    name: "no heap if the inspector did not answer",
    row: { ...ROW, isAtRest: true, heap: null },
    line: "1.25,1,31,,,,,50,60,3,9,5,2,70,80",
  },
])("a row has $name", ({ row, line }) => {
  expect(toCsv(row)).toBe(line);
  expect(HEADER.split(",")).toHaveLength(line.split(",").length);
});

it("each row is in the file once it is written, and an earlier soak's rows are not", async () => {
  const name = path.join(folder, "new", "rows.csv");
  await (await RowFile.create(name)).add(ROW);
  const file = await RowFile.create(name);
  await Promise.all([file.add(ROW), file.add({ ...ROW, ended: 32 })]);
  expect(readFileSync(name, "utf8").split("\n")).toEqual([
    HEADER,
    toCsv(ROW),
    toCsv({ ...ROW, ended: 32 }),
    "",
  ]);
});

it("the figures of a process are those of the system", async () => {
  const figures = await processFigures(process.pid);
  expect(figures.resident).toBeGreaterThan(figures.anonymous);
  expect(figures.anonymous).toBeGreaterThan(1_000_000);
  expect(figures.descriptors).toBeGreaterThan(figures.sockets + figures.databases);
  expect(figures.threads).toBeGreaterThan(0);
  await expect(processFigures(2 ** 30)).rejects.toThrow("ENOENT");
});
