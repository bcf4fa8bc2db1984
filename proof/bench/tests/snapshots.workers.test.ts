import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { sessionPrefix } from "../../../r2-layout/session-files";
import { SnapshotCosts } from "../snapshots/snapshot-costs";
import { TREE } from "../snapshots/tree";
import { readStoredSnapshots } from "../../../simulated/stored-snapshots";

it("a snapshot costs two R2 writes, and after three changes it writes only the changed contents", async () => {
  await runInDurableObject(env.SESSIONS.get(env.SESSIONS.newUniqueId()), async (_, { storage }) => {
    const costs = new SnapshotCosts(storage, env.BUCKET, "counted");
    await costs.write(TREE.files);
    const first = await costs.snapshot();
    await costs.write(3);
    const changed = await costs.snapshot();
    await costs.write(3);
    const again = await costs.snapshot();
    const bare = await costs.puts(6_000, 3);
    const contents = TREE.files * TREE.fileBytes;
    // Rows: 1 for the snapshot, 2 for the start and end of its job, 2 for the sizes of two objects,
    // and 1 for the location of each content.
    expect([first.objects, first.rows]).toEqual([2, 5 + TREE.files]);
    expect(first.bytes).toBeGreaterThan(contents);
    expect([changed.objects, changed.rows]).toEqual([2, 5 + 3]);
    expect(changed.bytes).toBeGreaterThan(3 * TREE.fileBytes);
    expect(changed.bytes).toBeLessThan(3 * TREE.fileBytes + 1_000);
    expect(again).toEqual(changed);
    expect(bare).toEqual({ objects: 3, bytes: 6_000, rows: 0 });
    const { trees, problems } = await readStoredSnapshots(
      env.BUCKET,
      sessionPrefix("bench", "counted"),
    );
    const sizes = Object.entries(trees).map(([name, tree]) => [name, Object.keys(tree).length]);
    expect(sizes).toEqual(
      ["1/1", "2/1", "3/1"].map((place) => [`${place}/agent1.final`, TREE.files]),
    );
    expect(problems).toEqual([]);
  });
}, 120_000);
