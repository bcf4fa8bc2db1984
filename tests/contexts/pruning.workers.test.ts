import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { contextServices } from "../../durable-objects/context-services";
import { createSessionIndex } from "../../durable-objects/session-index";
import type { ArchiveEntry } from "../../src/contexts/read-tar";
import { pruneVersions } from "../../src/contexts/pruning";
import { putArchive, putBlobs, putManifest, readManifest, sweepUploads } from "../../src/contexts/uploads";
import { readPlaces } from "../../src/contexts/stored-packs";
import { hashOf } from "../../src/workspace/hash";

/** Versions of contexts over the runtime's own D1 and R2, with a clock of the tests' own. */

const DAY = 24 * 60 * 60 * 1_000;
const { store, reader, pins, prune } = contextServices(env);
type Files = Readonly<Record<string, string>>;

const entriesOf = (files: Files) =>
  Promise.all(
    Object.entries(files).map(async ([path, text]) => {
      const bytes = new Uint8Array(new TextEncoder().encode(text));
      return { path, sha256: await hashOf(bytes), size: bytes.byteLength, bytes };
    }),
  );

/** A context of a tenant of its own, `tenant`. */
function shelf(tenant: string) {
  const owner = { tenant, name: "site" };
  const place = (session: string, turn = 1) => ({ tenant, session, turn });
  const self = {
    now: Date.UTC(2026, 0, 1),
    /** Says what is there to be uploaded, and sends the contents that are missing. */
    async begin(files: Files): Promise<{ version: string; missing: number }> {
      const entries = await entriesOf(files);
      const manifest = { files: entries.map(({ bytes: _, ...entry }) => entry) };
      const { version, missing, status } = await putManifest(store, owner, manifest, self.now);
      const lacking = entries.filter(({ sha256 }) => missing.includes(sha256));
      const blobs = async function* (): AsyncGenerator<ArchiveEntry> {
        for (const { sha256: name, bytes } of lacking) yield { kind: "file", name, bytes, executable: false };
      };
      if (lacking.length > 0) await putBlobs(store, { ...owner, version }, blobs);
      return { version, missing: status === "uploading" ? missing.length : 0 };
    },
    async push(files: Files): Promise<string> {
      await self.begin(files);
      return (await self.begin(files)).version;
    },
    async pushArchive(files: Files): Promise<string> {
      const entries = await entriesOf(files);
      const archive = async function* (): AsyncGenerator<ArchiveEntry> {
        for (const { path, bytes } of entries) yield { kind: "file" as const, name: path, bytes, executable: false };
      };
      return (await putArchive(store, owner, archive, self.now)).version;
    },
    /** Pruning as it comes day by day; what was begun long ago is swept first, as it is then. */
    async daysPass(days: number): Promise<void> {
      self.now += (days - 2) * DAY;
      for (let day = 0; day < 2; day += 1) {
        self.now += DAY;
        await sweepUploads(store, self.now);
        await pruneVersions(prune, self.now);
      }
    },
    /** A version's files; null if it cannot be read. */
    async read(version: string): Promise<Files | null> {
      const open = await reader.open(tenant, "site", version);
      if (!open) return null;
      const texts = [...open.tree].map(async ([path, entry]) => [path, new TextDecoder().decode(await open.read(entry))]);
      return Object.fromEntries(await Promise.all(texts));
    },
    /** A session with a turn that works on the newest version. */
    async pin(session: string): Promise<void> {
      await createSessionIndex(env.DB).add({ tenant, id: session, createdAt: self.now, question: "?" });
      await pins.take(place(session), "start", ["site"]);
    },
    release: (session: string, kept: readonly string[] = []) =>
      pins.release(
        place(session),
        kept.map((version) => ({ context: "site", version })),
      ),
    eraseSession: (session: string) => createSessionIndex(env.DB).remove(tenant, session),
    /** Objects that lie in R2 and that no version that stands needs, and the other way round. */
    async unfit(): Promise<string[]> {
      const prefix = `tenants/${tenant}/contexts/`;
      const there = new Set((await env.BUCKET.list({ prefix })).objects.map(({ key }) => key.slice(prefix.length)));
      const needed = new Set<string>();
      const rows = await prune.index.history(tenant, "site");
      for (const { id } of rows.filter(({ stands }) => stands)) {
        needed.add(`${id}/manifest.json`);
        const manifest = await readManifest(store.files, { tenant, version: id });
        const places = await readPlaces(store.files, { tenant, version: id });
        if (places.size > 0) needed.add(`${id}/packs.json`);
        for (const { hash, from } of manifest?.values() ?? []) {
          const place = places.get(hash);
          needed.add(place ? `${place.from}/packs/${place.pack}` : `${from}/blobs/${hash}`);
        }
        // What a pack holds stands beside it for as long as its version does.
        for (const key of there) if (key.startsWith(`${id}/packs/`) && key.endsWith(".json")) needed.add(key);
      }
      return [...there.symmetricDifference(needed)].sort();
    },
    rows: async () => (await prune.index.history(tenant, "site")).length,
  };
  return self;
}

describe("a version that was replaced", () => {
  it("can be read for thirty days, then not any more, and what no other needs goes", async () => {
    const site = shelf("replaced");
    const first = await site.push({ "a.txt": "stays", "b.txt": "goes" });
    const second = await site.push({ "a.txt": "stays", "b.txt": "came" });
    await site.daysPass(29);
    expect(await site.read(first)).toEqual({ "a.txt": "stays", "b.txt": "goes" });
    await site.daysPass(4);
    expect([await site.read(first), await site.read(second)]).toEqual([null, { "a.txt": "stays", "b.txt": "came" }]);
    expect([await site.unfit(), await site.rows()]).toEqual([[], 2]);
    await site.push({ "b.txt": "came" });
    await site.daysPass(35);
    expect([await site.unfit(), await site.rows()]).toEqual([[], 2]);
    await site.push({ "c.txt": "else" });
    await site.daysPass(35);
    expect([await site.unfit(), await site.rows()]).toEqual([[], 1]);
  });

  it("gives whoever reads it at that moment an hour more", async () => {
    const site = shelf("reading");
    const first = await site.push({ "a.txt": "old" });
    await site.push({ "a.txt": "new" });
    const open = await reader.open("reading", "site", first);
    const [entry] = open?.tree.values() ?? [];
    site.now += 31 * DAY;
    await pruneVersions(prune, site.now);
    await pruneVersions(prune, site.now + 60_000);
    expect(entry && (await open?.read(entry))).toHaveLength(3);
    await pruneVersions(prune, site.now + DAY);
    expect(await site.unfit()).toEqual([]);
  });

  it("stays while a turn works on it, and while its changes were made against it", async () => {
    const site = shelf("pinned");
    const first = await site.push({ "a.txt": "1" });
    for (const session of ["s1", "s2"]) await site.pin(session);
    const second = await site.push({ "a.txt": "2" });
    await site.pin("s3");
    await site.push({ "a.txt": "3" });
    await site.daysPass(100);
    expect([await site.read(first), await site.read(second)]).toEqual([{ "a.txt": "1" }, { "a.txt": "2" }]);
    await site.release("s1", [first]);
    await site.release("s2");
    await site.release("s3");
    await site.daysPass(2);
    expect([await site.read(first), await site.read(second)]).toEqual([{ "a.txt": "1" }, null]);
    await site.eraseSession("s1");
    await site.daysPass(3);
    expect([await site.read(first), await site.unfit()]).toEqual([null, []]);
    expect(await env.DB.prepare("SELECT 1 FROM context_pins WHERE tenant = 'pinned'").first()).toBeNull();
  });

  it("stays while an upload relies on what it has, however long that takes", async () => {
    const site = shelf("relied");
    const first = await site.push({ "a.txt": "old", "b.txt": "old too" });
    const mine = { "a.txt": "old", "b.txt": "mine" };
    const { version, missing } = await site.begin(mine);
    expect(missing).toBe(1);
    await site.push({ "c.txt": "another's" });
    site.now += 60 * DAY;
    for (const time of [0, DAY]) await pruneVersions(prune, site.now + time);
    expect(await site.read(first)).not.toBeNull();
    expect((await site.begin(mine)).version).toBe(version);
    await site.push({ "d.txt": "the newest" });
    for (const time of [2 * DAY, 3 * DAY]) await pruneVersions(prune, site.now + time);
    expect([await site.read(first), await site.read(version)]).toEqual([null, mine]);
    await site.daysPass(40);
    expect([await site.read(version), await site.unfit()]).toEqual([null, []]);
  });
});

describe("pruning", () => {
  /** The files' store, of which every erasing fails once it has begun. */
  const breaking = () => {
    let failures = 0;
    const fails = async (): Promise<never> => {
      failures += 1;
      throw new Error("cut off");
    };
    const { files } = prune;
    const broken = {
      manifest: files.manifest.bind(files),
      places: files.places.bind(files),
      erase: async (place: Parameters<typeof files.erase>[0]) => {
        await files.eraseAllBut(place, { blobs: new Set((await files.blobs(place)).values().take(1)), packs: new Set() });
        return fails();
      },
      eraseAllBut: async (...args: Parameters<typeof files.eraseAllBut>) => {
        await files.eraseAllBut(...args);
        return fails();
      },
    };
    return { files: Object.assign(Object.create(files), broken), failures: () => failures };
  };

  it("that breaks off at any place is finished by the next, and takes nothing that is needed", async () => {
    const site = shelf("broken");
    await site.push({ a: "1", b: "1b", c: "1c" });
    const last = { a: "1", d: "2" };
    await site.push(last);
    const newest = await site.push({ d: "2" });
    site.now += 31 * DAY;
    await pruneVersions(prune, site.now);
    const { files, failures } = breaking();
    for (let time = 1; time <= 3; time += 1)
      await expect(pruneVersions({ index: prune.index, files }, site.now + time * DAY)).rejects.toThrow("cut off");
    expect([failures(), await site.read(newest)]).toEqual([3, { d: "2" }]);
    await pruneVersions(prune, site.now + 4 * DAY);
    expect([await site.unfit(), await site.read(newest)]).toEqual([[], { d: "2" }]);
  });

  it.each([1, 2, 4])("leaves what stands whole and nothing else, whatever was pushed, held and let go (%i)", async (seed) => {
    const site = shelf(`random-${seed}`);
    let state = seed;
    const draw = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
    const pushed = new Map<string, Files>();
    const tree = (): Files =>
      Object.fromEntries(Array.from({ length: 1 + draw(20) }, (_, nth) => [`f${nth}`, `contents ${draw(40)}`]));
    let open: Files | null = null;
    for (let step = 0; step < 24; step += 1) {
      const files = tree();
      const what = draw(8);
      if (what < 3) pushed.set(await site.push(files), files);
      else if (what === 3) pushed.set(await site.pushArchive(files), files);
      else if (what === 4) await site.pin(`session${step}`);
      else if (what === 5) await site.release(`session${draw(step + 1)}`, draw(2) === 0 ? [...pushed.keys()] : []);
      else if (what === 6) {
        const { version, missing } = await site.begin(files);
        // What misses nothing is a version already.
        if (missing === 0) pushed.set(version, files);
        else open = files;
      } else if (open) {
        pushed.set(await site.push(open), open);
        open = null;
      }
      const passes = draw(3) === 0;
      // Some nights the first try breaks off.
      if (passes && draw(2) === 0)
        await pruneVersions({ index: prune.index, files: breaking().files }, site.now).catch(() => undefined);
      if (passes) await site.daysPass(2 + draw(20));
      const newest = await store.index.newest(`random-${seed}`, "site");
      if (newest) expect(await site.read(newest.id)).toEqual(pushed.get(newest.id));
      for (const [version, whole] of pushed) expect([null, whole]).toContainEqual(await site.read(version));
    }
    await site.daysPass(43);
    expect(await site.unfit()).toEqual([]);
  });
});
