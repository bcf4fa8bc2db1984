import { describe, expect, it } from "vitest";
import { FILES } from "../../../../durable-objects/shared/object-limits";
import { createTables } from "../../../../durable-objects/session/session-tables";
import type { Tree } from "../../../../src/workspace/types";
import { type FileRig, withFiles } from "./file-rig";

/** A session's files in R2 and in its own storage, with real SQLite and R2. */

const FIRST = { turn: 1, attempt: 1, label: "agent1.1" };
const SECOND = { turn: 1, attempt: 1, label: "agent1.2" };
const FINAL = { turn: 1, attempt: 1, label: "agent1.final" };
const LATER = { turn: 2, attempt: 1, label: "agent2.final" };

/** Contents that are too large for a row; each seed gives different contents. */
const large = (seed: number, bytes = 1_200_000): Uint8Array => new Uint8Array(bytes).fill(seed);
const foldersOf = (keys: readonly string[]) => keys.map((key) => key.slice(0, key.indexOf("/")));
const listed = (tree: Tree) =>
  Object.fromEntries([...tree].map(([path, { hash, size }]) => [path, `${hash} ${size}`]));
const bytesOf = ({ storage }: FileRig) =>
  storage.sql
    .exec<{ sum: number }>("SELECT coalesce(sum(length(bytes)), 0) AS sum FROM blobs")
    .one().sum;

describe("contents too large for a row", () => {
  it("E16 can be written to R2 by two agents at the same time, as one object", () =>
    withFiles(async (rig) => {
      const [tree] = await Promise.all([rig.commit({ a: large(1) }), rig.commit({ b: large(1) })]);
      expect(rig.watched.calls).toEqual(["put", "put"]);
      const versionsBefore = await rig.versions();
      await rig.commit({ c: large(1) });
      // The third write did not replace the object.
      expect([rig.watched.calls.length, await rig.versions()]).toEqual([3, versionsBefore]);
      expect(foldersOf(await rig.keys())).toEqual(["blobs"]);
      expect(bytesOf(rig)).toBe(0);
      const entry = tree.get("a");
      rig.restart();
      expect(await rig.blobs.read({ hash: entry?.hash ?? "" })).toEqual(large(1));
    }));

  it("make their call fail if R2 rejects them, and can be written again", () =>
    withFiles(async (rig) => {
      rig.watched.breaks = () => {
        throw new Error("R2 is away");
      };
      await expect(rig.commit({ a: large(2) })).rejects.toThrow("R2 is away");
      rig.watched.breaks = () => undefined;
      const tree = await rig.commit({ a: large(2) });
      expect((await rig.blobs.read({ hash: tree.get("a")?.hash ?? "" })).byteLength).toBe(
        1_200_000,
      );
    }));

  it("are no longer written after their call is aborted", () =>
    withFiles(async (rig) => {
      const stop = new AbortController();
      rig.watched.breaks = (_, when) =>
        void (when === "after" && stop.abort(new Error("cancelled")));
      await expect(
        rig.commit({ a: large(10), b: large(11), c: large(12) }, stop.signal),
      ).rejects.toThrow("cancelled");
      expect([(await rig.keys()).length, rig.rows("blobs")]).toEqual([1, 1]);
    }));

  it("have a row before they are written, so that they can be deleted after an interruption", () =>
    withFiles(async (rig) => {
      await rig.commit({ a: large(3) }, "forgotten");
      expect(await rig.keys()).toHaveLength(1);
      rig.outbox.add({ type: "tidy" });
      await rig.work();
      expect([await rig.keys(), rig.rows("blobs")]).toEqual([[], 0]);
    }));
});

describe("a snapshot", () => {
  it("of small files needs two writes, and the next snapshot writes only new contents", () =>
    withFiles(async (rig) => {
      const first = await rig.answer(FIRST, { "a.txt": "one", "b.txt": "two", empty: "" });
      await rig.work();
      expect(rig.watched.calls).toEqual(["put", "put"]);
      rig.watched.calls.length = 0;
      const second = await rig.answer(SECOND, {
        "a.txt": "one",
        "b.txt": "three",
        "c.txt": "four",
      });
      await rig.work();
      expect(rig.watched.calls).toEqual(["put", "put"]);
      const packs = (await rig.keys()).filter((key) => key.startsWith("packs/"));
      expect(packs).toHaveLength(2);
      expect(await rig.stored()).toEqual({
        trees: { "1/1/agent1.1": listed(first), "1/1/agent1.2": listed(second) },
        problems: [],
      });
    }));

  it("of the maximum number of files needs two writes, and contains each file", () =>
    withFiles(async (rig) => {
      const names = Array.from({ length: FILES.files }, (_, nth) => `src/${nth % 50}/${nth}.txt`);
      const tree = await rig.answer(
        FIRST,
        Object.fromEntries(names.map((name) => [name, `This is ${name}.`])),
      );
      await rig.work();
      expect(rig.watched.calls).toEqual(["put", "put"]);
      rig.restart();
      expect(rig.snapshots.read(FIRST)?.files).toBe(FILES.files);
      expect(await rig.stored()).toEqual({ trees: { "1/1/agent1.1": listed(tree) }, problems: [] });
    }));

  it("without new contents needs one write, for its manifest", () =>
    withFiles(async (rig) => {
      await rig.answer(FIRST, { "a.txt": "one" });
      await rig.work();
      rig.watched.calls.length = 0;
      await rig.answer(SECOND, { "moved.txt": "one" });
      await rig.work();
      expect(rig.watched.calls).toEqual(["put"]);
    }));

  it("of a later turn is stored as the difference from the previous result", () =>
    withFiles(async (rig) => {
      const first = await rig.answer(FINAL, { "a.txt": "one", "b.txt": "two" });
      const second = await rig.answer(LATER, { "a.txt": "one", "c.txt": "three" });
      await rig.work();
      expect(await rig.stored()).toEqual({
        trees: { "1/1/agent1.final": listed(first), "2/1/agent2.final": listed(second) },
        problems: [],
      });
    }));

  it("has its large files as separate objects; files too large for a row are already in R2", () =>
    withFiles(async (rig) => {
      await rig.answer(FIRST, {
        small: "one",
        tiny: "two",
        large: large(4, 400_000),
        huge: large(5),
      });
      rig.watched.calls.length = 0;
      await rig.work();
      // The job checks whether the file exists that is too large for a row. Then it writes the
      // pack, the large file and the manifest.
      expect(rig.watched.calls).toEqual(["head", "put", "put", "put"]);
      expect(foldersOf(await rig.keys())).toEqual(["blobs", "blobs", "packs", "snapshots"]);
      expect((await rig.stored()).problems).toEqual([]);
    }));

  it.each([
    { name: "before R2 has performed it", when: "before" as const },
    { name: "after R2 has performed it", when: "after" as const },
  ])("is complete in the end if any call of R2 fails $name", async ({ when }) => {
    let allFailures = 0;
    for (let nth = 1, failures = 1; failures > 0; nth += 1) {
      await withFiles(async (rig) => {
        const contents = { a: "one", b: "two", large: large(6, 300_000), there: large(8) };
        const first = await rig.answer(FIRST, contents);
        const second = await rig.answer(SECOND, { ...contents, a: "three", c: "four" });
        let callsLeft = nth;
        rig.watched.breaks = (_, now) => {
          if (now !== when) return;
          callsLeft -= 1;
          if (callsLeft === 0) throw new Error("R2 is away");
        };
        failures = await rig.work();
        allFailures += failures;
        rig.watched.breaks = () => undefined;
        const trees = { "1/1/agent1.1": listed(first), "1/1/agent1.2": listed(second) };
        expect(await rig.stored()).toEqual({ trees, problems: [] });
        expect(rig.watched.calls).toContain("head");
      });
    }
    // The first snapshot needs four calls: a pack, the large file, the check of existing contents,
    // and the manifest. The second needs two: a pack and the manifest.
    expect(allFailures).toBe(6);
  });
});

describe("a turn that has ended", () => {
  it("keeps only the files of its result in the session's storage; other files are read from R2", () =>
    withFiles(async (rig) => {
      const lost = await rig.answer(FIRST, {
        "a.txt": "one of the loser",
        "b.txt": "two of the loser",
        "c.txt": "three",
      });
      const won = await rig.answer(FINAL, { "a.txt": "the winner's" });
      await rig.commit({ draft: "of a round that was discarded" });
      rig.outbox.add({ type: "tidy" });
      await rig.work();
      expect([rig.rows("blobs"), bytesOf(rig)]).toEqual([1, "the winner's".length]);
      rig.watched.calls.length = 0;
      expect(await rig.text(won.get("a.txt"))).toBe("the winner's");
      expect(rig.watched.calls).toEqual([]);
      for (const [path, text] of [
        ["a.txt", "one of the loser"],
        ["b.txt", "two of the loser"],
        ["c.txt", "three"],
      ] as const) {
        expect(await rig.text(lost.get(path))).toBe(text);
      }
      expect(rig.watched.calls).toEqual(["get", "get"]); // one file, then the pack with all files
      await expect(rig.text({ hash: "0".repeat(64), size: 1 })).rejects.toThrow("lost");
    }));

  it("deletes no working copies before they are uploaded, and none while the next turn runs", () =>
    withFiles(async (rig) => {
      const tree = await rig.answer(FIRST, { a: "one", b: "two" });
      const [upload] = rig.outbox.all();
      rig.outbox.add({ type: "tidy" });
      expect(await rig.jobs.perform({ type: "tidy" })).toBe("later");
      expect(await rig.text(tree.get("a"))).toBe("one");
      expect(rig.rows("blobs")).toBe(2);
      if (upload) await rig.jobs.perform(upload);
      rig.state.latest = { turn: 2, isRunning: true };
      await rig.commit({ c: "work of the turn that runs" });
      expect(await rig.jobs.perform({ type: "tidy" })).toBe("done");
      expect(rig.rows("blobs")).toBe(3);
    }));

  it("erases files in R2 that only discarded rounds wrote, unless they were written again", () =>
    withFiles(async (rig) => {
      await rig.commit({ a: large(8), b: large(9) });
      expect(await rig.jobs.perform({ type: "tidy" })).toBe("done");
      rig.state.latest = { turn: 2, isRunning: true };
      const again = await rig.commit({ b: large(9) });
      await rig.work();
      expect(await rig.keys()).toEqual([`blobs/${again.get("b")?.hash}`]);
      expect(await rig.blobs.read({ hash: again.get("b")?.hash ?? "" })).toEqual(large(9));
    }));

  it("stores no contents for empty files", () =>
    withFiles(async (rig) => {
      const tree = await rig.answer(FINAL, { empty: "" });
      rig.outbox.add({ type: "tidy" });
      await rig.work();
      expect([
        rig.rows("blobs"),
        rig.rows("stored_blobs"),
        await rig.text(tree.get("empty")),
      ]).toEqual([0, 0, ""]);
      expect(rig.blobs.has(tree.get("empty")?.hash ?? "")).toBe(true);
    }));
});

describe("a session that was stored before snapshots were uploaded to R2", () => {
  it("uploads its snapshots before any contents are deleted", () =>
    withFiles(async (rig) => {
      const tree = await rig.answer(FIRST, { a: "one", b: "two" });
      rig.storage.sql.exec("DROP TABLE file_duties");
      createTables(rig.storage.sql);
      rig.outbox.add({ type: "tidy" });
      await rig.work();
      expect(await rig.stored()).toEqual({ trees: { "1/1/agent1.1": listed(tree) }, problems: [] });
      createTables(rig.storage.sql);
      expect(rig.outbox.all()).toEqual([]);
    }));
});

describe("R2 that does not answer", () => {
  it("makes a read fail with a retryable code, and the next read may succeed", () =>
    withFiles(async (rig) => {
      const tree = await rig.answer(FIRST, { a: "one", b: "two" });
      rig.outbox.add({ type: "tidy" });
      await rig.work();
      rig.watched.breaks = () => {
        throw new Error("R2 is away");
      };
      await expect(rig.text(tree.get("a"))).rejects.toMatchObject({ code: "storage_unavailable" });
      rig.watched.breaks = () => undefined;
      expect(await rig.text(tree.get("a"))).toBe("one");
    }));
});
