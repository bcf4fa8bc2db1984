import { expect, it } from "vitest";
import { VersionShelf } from "./version-shelf";

it("versions sort in their order if the clock of a machine is behind", async () => {
  const site = new VersionShelf("behind");
  const ids = [await site.push({ "a.txt": "one" })];
  site.now -= 60_000;
  ids.push(await site.push({ "a.txt": "two" }));
  ids.push(await site.pushArchive({ "a.txt": "three" }));
  expect(ids).toEqual(ids.toSorted());
  expect([new Set(ids).size, (await site.newest())?.id]).toEqual([3, ids[2]]);
});
