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

it("an upload that began before the newest version is refused, and can be sent again", async () => {
  const site = new VersionShelf("overtaken");
  await site.push({ "a.txt": "one" });
  const archived = site.pushArchive({ "a.txt": "archive" }, async () => {
    site.now += 1_000;
    await site.push({ "a.txt": "two" });
  });
  await expect(archived).rejects.toThrow(/begun later than this upload/);
  expect(await site.texts()).toEqual({ "a.txt": "two" });

  site.now += 1_000;
  const slow = await site.beginUpload({ "a.txt": "slow" });
  site.now += 1_000;
  const later = await site.push({ "a.txt": "three" });
  const again = await site.push({ "a.txt": "slow" });
  expect(again > later && later > slow.version).toBe(true);
  expect(await site.texts()).toEqual({ "a.txt": "slow" });
});
