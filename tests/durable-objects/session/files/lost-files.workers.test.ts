import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type FileRig, withFiles } from "./file-rig";

/** File jobs whose contents are missing, with real SQLite and R2. */

const PLACE = { turn: 1, attempt: 1, label: "agent1.1" };
const large = new Uint8Array(1_200_000).fill(7);
const RESULT = { type: "upload_result", name: "1/1/agent1/1/r.txt" } as const;

/** The contents that are recorded as lost, as `place hash`. */
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
const loggedLines = () => logged.mock.calls.map((parts) => parts.join(" "));

describe("a snapshot with lost contents", () => {
  it("is tried five times, and then stored with a note of the lost contents", () =>
    withFiles(async (rig) => {
      const tree = await rig.answer(PLACE, { a: "one", b: "two", c: "three", large });
      const [firstLost, secondLost] = [
        tree.get("b")?.hash ?? "",
        tree.get("large")?.hash ?? "",
      ].sort();
      for (const path of ["b", "large"]) await rig.lose(tree.get(path));
      rig.outbox.add({ type: "tidy" });
      expect(await rig.work()).toBe(4);
      expect(rig.outbox.all()).toEqual([]);
      expect(lostOf(rig)).toEqual([
        `snapshots/1/1/agent1.1 ${firstLost}`,
        `snapshots/1/1/agent1.1 ${secondLost}`,
      ]);
      expect(loggedLines()).toEqual([
        expect.stringMatching(
          `contents of files are lost.* snapshots/1/1/agent1.1 ${firstLost} ${secondLost}$`,
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

  it("is complete if the contents are written again before the last try", () =>
    withFiles(async (rig) => {
      const tree = await rig.answer(PLACE, { a: "one", b: "two" });
      await rig.lose(tree.get("b"));
      const item = rig.outbox.due(1);
      expect(item && (await rig.jobs.perform(item.body))).toMatchObject({ again: { misses: 1 } });
      await rig.commit({ again: "two" });
      await rig.work();
      expect([lostOf(rig), (await rig.stored()).problems]).toEqual([[], []]);
    }));

  it("is recorded as lost if the snapshot itself is missing", () =>
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
  it("is recorded as lost after five tries, and the next job runs", () =>
    withFiles(async (rig) => {
      const hash = "0".repeat(64);
      rig.outbox.add({ ...RESULT, hash });
      const tree = await rig.answer(PLACE, { a: "one" });
      expect(await rig.work()).toBe(4);
      expect(lostOf(rig)).toEqual([`tool-results/${RESULT.name} ${hash}`]);
      expect(loggedLines()).toEqual([
        expect.stringContaining(`tool-results/${RESULT.name} ${hash}`),
      ]);
      expect([await rig.text(tree.get("a")), (await rig.stored()).problems]).toEqual(["one", []]);
    }));
});

describe("an unreachable R2", () => {
  it("never makes contents count as lost, also after many tries", () =>
    withFiles(async (rig) => {
      await rig.answer(PLACE, { a: "one", large });
      let failuresLeft = 40;
      rig.watched.breaks = () => {
        failuresLeft -= 1;
        if (failuresLeft > 0) throw new Error("R2 is away");
      };
      expect(await rig.work()).toBeGreaterThan(20);
      expect([lostOf(rig), loggedLines(), (await rig.stored()).problems]).toEqual([[], [], []]);
    }));
});
