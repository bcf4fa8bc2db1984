import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { ContextFiles, type VersionPlace } from "../../r2-layout/contexts";
import type { ContextStore } from "../../src/uploads/context-store";
import { type Files, store, VersionShelf } from "./version-shelf";

/** Different small files. `state` changes their contents. */
const smallFiles = (count: number, state = ""): Files =>
  Object.fromEntries(
    Array.from({ length: count }, (_, nth) => [
      `src/${String(nth).padStart(3, "0")}.ts`,
      `file ${nth} ${state}`,
    ]),
  );

/** Pushes `pushes` versions; each changes two of 40 files. Returns the latest files. */
async function pushOften(site: VersionShelf, pushes: number): Promise<Files> {
  let files = smallFiles(40);
  await site.push(files);
  for (let push = 0; push < pushes; push += 1) {
    const paths = Object.keys(files).slice(2 * (push % 20), 2 * (push % 20) + 2);
    files = { ...files, ...Object.fromEntries(paths.map((path) => [path, `${path} ${push}`])) };
    await site.push(files);
  }
  return files;
}

const newestOf = async (site: VersionShelf): Promise<string> => (await site.newest())?.id ?? "";

describe("small contents", () => {
  it("that were sent one by one are in one pack after the commit, and stored once", async () => {
    const site = new VersionShelf("one-by-one");
    const files = smallFiles(40);
    const version = await site.pushSingly(files);
    expect([await site.countObjects(version), await site.read(version)]).toEqual([1, files]);
    expect(await site.wrongObjects()).toEqual([]);
  });

  it("stay separate objects if they are few", async () => {
    const site = new VersionShelf("few");
    const version = await site.pushSingly(smallFiles(15));
    expect([await site.countObjects(version), await site.wrongObjects()]).toEqual([15, []]);
  });

  it("of many pushes are gathered, also by an archive, and all versions stay readable", async () => {
    const site = new VersionShelf("many-pushes");
    const files = await pushOften(site, 30);
    const version = await newestOf(site);
    expect(await site.countObjects(version)).toBeLessThan(16);
    expect(await site.read(version)).toEqual(files);
    const changed = { ...files, "src/000.ts": "archived" };
    const archived = await site.pushArchive(changed);
    expect(await site.countObjects(archived)).toBeLessThan(16);
    expect([await site.read(archived), await site.read(version)]).toEqual([changed, files]);
    expect(await site.wrongObjects()).toEqual([]);
  });

  it("that were gathered stay readable when the versions that they came from are pruned", async () => {
    const site = new VersionShelf("gathered-pruned");
    const files = await pushOften(site, 30);
    await site.passDays(40);
    expect(await site.countVersions()).toBeLessThan(20);
    expect([await site.read(await newestOf(site)), await site.wrongObjects()]).toEqual([files, []]);
    const last = { ...files, "src/000.ts": "the last" };
    const version = await site.push(last);
    await site.passDays(40);
    expect([await site.read(version), await site.wrongObjects()]).toEqual([last, []]);
  });

  it("are charged once per copy: gathered contents of older versions are charged to the new one", async () => {
    const site = new VersionShelf("charged");
    await pushOften(site, 30);
    const rows = await env.DB.prepare(
      "SELECT id, stored_bytes AS bytes FROM context_versions WHERE tenant = 'charged'",
    ).all<{ id: string; bytes: number }>();
    for (const { id, bytes } of rows.results) {
      const { objects } = await env.BUCKET.list({ prefix: `tenants/charged/contexts/${id}/` });
      const contents = objects.filter(
        ({ key }) => !key.includes("/packs") || !key.endsWith("json"),
      );
      expect(bytes).toBe(contents.reduce((sum, { size }) => sum + size, 0));
    }
  });
});

describe("a commit", () => {
  const expectStored = async (site: VersionShelf, version: string, files: Files) =>
    expect([await site.read(version), await site.wrongObjects()]).toEqual([files, []]);

  it("does not gather if no memory is free", async () => {
    const site = new VersionShelf("no-memory");
    const files = smallFiles(20);
    const version = await site.pushSingly(files, { ...store, spare: async () => null });
    expect(await site.countObjects(version)).toBe(20);
    await expectStored(site, version, files);
  });

  it("does not gather if the tenant's storage is full", async () => {
    const site = new VersionShelf("full");
    const { index } = store;
    let charges = 0;
    const fullIndex: ContextStore["index"] = {
      ...index,
      charge: async (upload, bytes) => {
        charges += 1;
        return charges % 2 === 1
          ? index.charge(upload, bytes)
          : { ok: false, storedBytes: 1, limitBytes: 1 };
      },
    };
    const files = await pushOften(site, 7);
    const changed = { ...files, "src/039.ts": "changed" };
    const version = await site.pushSingly(changed, { ...store, index: fullIndex });
    expect(charges).toBe(2);
    expect(await site.countObjects(version)).toBe(16);
    await expectStored(site, version, changed);
  });

  /** Context files of which one method fails once. */
  const failingOnce = (method: "putPack" | "putPlaces" | "eraseContents"): ContextFiles => {
    const files = new ContextFiles(env.BUCKET);
    let hasFailed = false;
    const fail = () => {
      if (hasFailed) return false;
      hasFailed = true;
      return true;
    };
    const error = () => Promise.reject(new Error("R2 is away"));
    if (method === "putPack")
      files.putPack = (...args) =>
        fail() ? error() : ContextFiles.prototype.putPack.apply(files, args);
    if (method === "putPlaces")
      files.putPlaces = async (place: VersionPlace, text: string) => {
        const stored = await ContextFiles.prototype.putPlaces.call(files, place, text);
        return fail() ? error() : stored;
      };
    if (method === "eraseContents")
      files.eraseContents = (...args) =>
        fail() ? error() : ContextFiles.prototype.eraseContents.apply(files, args);
    return files;
  };

  it.each(["putPack", "putPlaces"] as const)(
    "that was interrupted in %s can be repeated",
    async (method) => {
      const site = new VersionShelf(`interrupted-${method}`);
      const files = smallFiles(20);
      const failing = { ...store, files: failingOnce(method) };
      await expect(site.pushSingly(files, failing)).rejects.toThrow("R2 is away");
      const version = await site.pushSingly(files, failing);
      expect(await site.countObjects(version)).toBe(1);
      await expectStored(site, version, files);
    },
  );

  it("succeeds although unneeded objects cannot be erased; they go with the version", async () => {
    const site = new VersionShelf("not-erased");
    const files = smallFiles(20);
    const version = await site.pushSingly(files, { ...store, files: failingOnce("eraseContents") });
    expect(await site.read(version)).toEqual(files);
    expect(await site.wrongObjects()).toHaveLength(20);
    const last = await site.push({ a: "1" });
    await site.passDays(40);
    await expectStored(site, last, { a: "1" });
  });
});
