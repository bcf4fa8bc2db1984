import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { pruneVersions } from "../../src/uploads/pruning";
import { DAY, type Files, prune, reader, VersionShelf } from "./version-shelf";

describe("a replaced version", () => {
  it("can be read for thirty days; then it is erased with the contents that no other version needs", async () => {
    const site = new VersionShelf("replaced");
    const first = await site.push({ "a.txt": "stays", "b.txt": "goes" });
    const second = await site.push({ "a.txt": "stays", "b.txt": "came" });
    await site.passDays(29);
    expect(await site.read(first)).toEqual({ "a.txt": "stays", "b.txt": "goes" });
    await site.passDays(4);
    expect([await site.read(first), await site.read(second)]).toEqual([
      null,
      { "a.txt": "stays", "b.txt": "came" },
    ]);
    expect([await site.wrongObjects(), await site.countVersions()]).toEqual([[], 2]);
    await site.push({ "b.txt": "came" });
    await site.passDays(35);
    expect([await site.wrongObjects(), await site.countVersions()]).toEqual([[], 2]);
    await site.push({ "c.txt": "else" });
    await site.passDays(35);
    expect([await site.wrongObjects(), await site.countVersions()]).toEqual([[], 1]);
  });

  it("stays readable for an hour for readers that have opened it", async () => {
    const site = new VersionShelf("reading");
    const first = await site.push({ "a.txt": "old" });
    await site.push({ "a.txt": "new" });
    const open = await reader.open("reading", "site", first);
    const [entry] = open?.tree.values() ?? [];
    site.now += 31 * DAY;
    await pruneVersions(prune, site.now);
    await pruneVersions(prune, site.now + 60_000);
    expect(entry && (await open?.read(entry))).toHaveLength(3);
    await pruneVersions(prune, site.now + DAY);
    expect(await site.wrongObjects()).toEqual([]);
  });

  it("stays while a turn uses it, and while a turn's changes are based on it", async () => {
    const site = new VersionShelf("pinned");
    const first = await site.push({ "a.txt": "1" });
    for (const session of ["s1", "s2"]) await site.pin(session);
    const second = await site.push({ "a.txt": "2" });
    await site.pin("s3");
    await site.push({ "a.txt": "3" });
    await site.passDays(100);
    expect([await site.read(first), await site.read(second)]).toEqual([
      { "a.txt": "1" },
      { "a.txt": "2" },
    ]);
    await site.release("s1", [first]);
    await site.release("s2");
    await site.release("s3");
    await site.passDays(2);
    expect([await site.read(first), await site.read(second)]).toEqual([{ "a.txt": "1" }, null]);
    await site.eraseSession("s1");
    await site.passDays(3);
    expect([await site.read(first), await site.wrongObjects()]).toEqual([null, []]);
    expect(
      await env.DB.prepare("SELECT 1 FROM context_pins WHERE tenant = 'pinned'").first(),
    ).toBeNull();
  });

  it("stays as long as an open upload depends on its contents", async () => {
    const site = new VersionShelf("relied");
    const first = await site.push({ "a.txt": "old", "b.txt": "old too" });
    // An upload that is older than the newest version starts again, so the other one begins first.
    // Each begins in its own millisecond, because ids of the same one sort at random.
    site.now += 1;
    await site.beginUpload({ "c.txt": "another's" });
    site.now += 1;
    const files = { "a.txt": "old", "b.txt": "mine" };
    const { version, missing } = await site.beginUpload(files);
    expect(missing).toBe(1);
    await site.push({ "c.txt": "another's" });
    site.now += 60 * DAY;
    for (const time of [0, DAY]) await pruneVersions(prune, site.now + time);
    expect(await site.read(first)).not.toBeNull();
    expect((await site.beginUpload(files)).version).toBe(version);
    await site.push({ "d.txt": "the newest" });
    for (const time of [2 * DAY, 3 * DAY]) await pruneVersions(prune, site.now + time);
    expect([await site.read(first), await site.read(version)]).toEqual([null, files]);
    await site.passDays(40);
    expect([await site.read(version), await site.wrongObjects()]).toEqual([null, []]);
  });
});

describe("pruning", () => {
  /** Storage in which every erasure fails after it has erased some files. */
  const failingFiles = () => {
    let failures = 0;
    const failErasure = async (): Promise<never> => {
      failures += 1;
      throw new Error("cut off");
    };
    const { files } = prune;
    const failingMethods = {
      manifest: files.manifest.bind(files),
      places: files.places.bind(files),
      erase: async (place: Parameters<typeof files.erase>[0]) => {
        await files.eraseAllBut(place, {
          blobs: new Set((await files.blobs(place)).values().take(1)),
          packs: new Set(),
        });
        return failErasure();
      },
      eraseAllBut: async (...args: Parameters<typeof files.eraseAllBut>) => {
        await files.eraseAllBut(...args);
        return failErasure();
      },
    };
    return { files: Object.assign(Object.create(files), failingMethods), failures: () => failures };
  };

  it("that was interrupted is finished by the next run, and erases no needed contents", async () => {
    const site = new VersionShelf("broken");
    await site.push({ a: "1", b: "1b", c: "1c" });
    const last = { a: "1", d: "2" };
    await site.push(last);
    const newest = await site.push({ d: "2" });
    site.now += 31 * DAY;
    await pruneVersions(prune, site.now);
    const { files, failures } = failingFiles();
    for (let time = 1; time <= 3; time += 1)
      await expect(
        pruneVersions({ index: prune.index, files }, site.now + time * DAY),
      ).rejects.toThrow("cut off");
    expect([failures(), await site.read(newest)]).toEqual([3, { d: "2" }]);
    await pruneVersions(prune, site.now + 4 * DAY);
    expect([await site.wrongObjects(), await site.read(newest)]).toEqual([[], { d: "2" }]);
  });

  it.each([1, 2, 4])(
    "keeps readable versions complete and erases all else, for random uploads and pins (seed %i)",
    async (seed) => {
      const site = new VersionShelf(`random-${seed}`);
      let state = seed;
      const random = (limit: number): number => {
        state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
        return Math.floor((state / 2_147_483_648) * limit);
      };
      const pushed = new Map<string, Files>();
      const randomFiles = (): Files =>
        Object.fromEntries(
          Array.from({ length: 1 + random(20) }, (_, nth) => [`f${nth}`, `contents ${random(40)}`]),
        );
      let open: Files | null = null;
      for (let step = 0; step < 24; step += 1) {
        const files = randomFiles();
        const action = random(8);
        if (action < 3) pushed.set(await site.push(files), files);
        else if (action === 3) pushed.set(await site.pushArchive(files), files);
        else if (action === 4) await site.pin(`session${step}`);
        else if (action === 5)
          await site.release(
            `session${random(step + 1)}`,
            random(2) === 0 ? [...pushed.keys()] : [],
          );
        else if (action === 6) {
          const { version, missing } = await site.beginUpload(files);
          // An upload without missing contents is already a version.
          if (missing === 0) pushed.set(version, files);
          else open = files;
        } else if (open) {
          pushed.set(await site.push(open), open);
          open = null;
        }
        const shouldPrune = random(3) === 0;
        // Some runs are interrupted at first.
        if (shouldPrune && random(2) === 0)
          await pruneVersions({ index: prune.index, files: failingFiles().files }, site.now).catch(
            () => undefined,
          );
        if (shouldPrune) await site.passDays(2 + random(20));
        const newest = await site.newest();
        if (newest) expect(await site.read(newest.id)).toEqual(pushed.get(newest.id));
        for (const [version, expectedFiles] of pushed)
          expect([null, expectedFiles]).toContainEqual(await site.read(version));
      }
      await site.passDays(43);
      expect(await site.wrongObjects()).toEqual([]);
    },
  );
});
