import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type FileRig, withFiles } from "./file-rig";

/** Jobs whose contents are lost, with real SQLite and R2. */

const PLACE = { turn: 1, attempt: 1, label: "agent1.1" };
const large = new Uint8Array(1_200_000).fill(7);
const RESULT = { type: "upload_result", name: "1/1/agent1/1/r.txt" } as const;

/** The contents that are recorded as lost. */
const lostOf = ({ storage }: FileRig): string[] =>
  storage.sql
    .exec<{ hash: string; place: string }>(
      "SELECT hash, place FROM lost_contents ORDER BY place, hash",
    )
    .toArray()
    .map(({ hash, place }) => `${place} ${hash}`);

const logged = vi.spyOn(console, "error");
beforeEach(() => void logged.mockReset().mockImplementation(() => undefined));
afterEach(() => void vi.clearAllMocks());
const log = () => logged.mock.calls.map((parts) => parts.join(" "));

describe("a snapshot with lost contents", () => {
  it("is tried five times, then stored without them, and names them", () =>
    withFiles(async (rig) => {
      const tree = await rig.answer(PLACE, { a: "one", b: "two", c: "three", large });
      const [gone, goneToo] = [tree.get("b")?.hash ?? "", tree.get("large")?.hash ?? ""].sort();
      for (const path of ["b", "large"]) await rig.lose(tree.get(path));
      rig.outbox.add({ type: "tidy" });
      expect(await rig.work()).toBe(4);
      expect(rig.outbox.all()).toEqual([]);
      expect(lostOf(rig)).toEqual([
        `snapshots/1/1/agent1.1 ${gone}`,
        `snapshots/1/1/agent1.1 ${goneToo}`,
      ]);
      expect(log()).toEqual([
        expect.stringMatching(
          `contents of files are lost.* snapshots/1/1/agent1.1 ${gone} ${goneToo}$`,
        ),
      ]);
      expect((await rig.stored()).problems).toEqual([
        "1/1/agent1.1 b is lost",
        "1/1/agent1.1 large is lost",
      ]);
      expect([await rig.text(tree.get("a")), await rig.text(tree.get("c"))]).toEqual([
        "one",
        "three",
      ]);
      await expect(rig.text(tree.get("b"))).rejects.toThrow(
        `the contents ${tree.get("b")?.hash} are lost`,
      );
    }));

  it("is complete if the contents are written again in time", () =>
    withFiles(async (rig) => {
      const tree = await rig.answer(PLACE, { a: "one", b: "two" });
      await rig.lose(tree.get("b"));
      const item = rig.outbox.due(1);
      expect(item && (await rig.jobs.perform(item.body))).toMatchObject({ again: { misses: 1 } });
      await rig.commit({ again: "two" });
      await rig.work();
      expect([lostOf(rig), (await rig.stored()).problems]).toEqual([[], []]);
    }));

  it("whose tree is lost is given up as well", () =>
    withFiles(async (rig) => {
      await rig.answer(PLACE, { a: "one" });
      rig.storage.sql.exec("DELETE FROM snapshots");
      expect(await rig.work()).toBe(4);
      expect([lostOf(rig), rig.outbox.all()]).toEqual([
        ["snapshots/1/1/agent1.1 the snapshot itself"],
        [],
      ]);
    }));
});

describe("a result with lost contents", () => {
  it("is given up after five tries with the same error, and the next job runs", () =>
    withFiles(async (rig) => {
      const hash = "0".repeat(64);
      rig.outbox.add({ ...RESULT, hash });
      const tree = await rig.answer(PLACE, { a: "one" });
      expect(await rig.work()).toBe(4);
      expect(lostOf(rig)).toEqual([`tool-results/${RESULT.name} ${hash}`]);
      expect(log()).toEqual([expect.stringContaining(`tool-results/${RESULT.name} ${hash}`)]);
      expect([await rig.text(tree.get("a")), (await rig.stored()).problems]).toEqual(["one", []]);
    }));
});

describe("R2 without a response", () => {
  it("never counts as a loss, however often it is asked", () =>
    withFiles(async (rig) => {
      await rig.answer(PLACE, { a: "one", large });
      let left = 40;
      rig.watched.breaks = () => {
        left -= 1;
        if (left > 0) throw new Error("R2 is away");
      };
      expect(await rig.work()).toBeGreaterThan(20);
      expect([lostOf(rig), log(), (await rig.stored()).problems]).toEqual([[], [], []]);
    }));
});
