import { describe, expect, it } from "vitest";
import { createTables } from "../../../../durable-objects/session/session-tables";
import {
  type SnapshotPlace,
  SnapshotStore,
} from "../../../../durable-objects/session/files/snapshot-store";
import type { Tree } from "../../../../src/workspace/types";
import { Disk } from "../../../../simulated/disk";

const NO_MISHAPS = {
  beforeCommit: () => {},
  afterCommit: () => {},
  durable: () => {},
  lagMs: () => 0,
};
const disk = () => new Disk({ mishaps: NO_MISHAPS, schedule: () => {}, toWorld: (at) => at });

/**
 * A session whose turns each add a file to the files of their parent turn, and freeze the tree as
 * an answer and as the result.
 */
function sessionOf(turns: readonly { turn: number; parent: number | null }[]) {
  const { sql } = disk().state(
    () => {},
    () => {},
  ).storage;
  createTables(sql);
  const parents = new Map(turns.map(({ turn, parent }) => [turn, parent]));
  const fresh = () =>
    new SnapshotStore(sql, {
      parentOf: (turn) => parents.get(turn) ?? null,
      completedWith: () => 1,
    });
  const store = fresh();
  const frozen = turns.flatMap(({ turn }) => {
    const tree: Tree = new Map([
      ...store.baseOf(turn),
      [`f${turn}`, { hash: String(turn).padStart(64, "0"), size: 1 }],
    ]);
    return ["agent1.1", "agent1.final"].map((label) => {
      const place = { turn, attempt: 1, label };
      store.write(place, tree);
      return { place, paths: [...tree.keys()] };
    });
  });
  return { frozen, restarted: fresh() };
}

/** The number of manifests that a tree is read from. */
function manifestsOf(store: SnapshotStore, place: SnapshotPlace): number {
  const parent = store.frozen(place)?.parent ?? null;
  return parent === null ? 1 : 1 + manifestsOf(store, parent);
}

const chain = (turns: readonly number[]) =>
  turns.map((turn, nth) => ({ turn, parent: turns[nth - 1] ?? null }));

describe("the trees of a session", () => {
  it.each([
    {
      name: "whose turns follow one another",
      turns: chain(Array.from({ length: 40 }, (_, nth) => nth + 1)),
    },
    {
      name: "whose turns each follow the turn eight before",
      turns: chain(Array.from({ length: 20 }, (_, nth) => 1 + 8 * nth)),
    },
    {
      name: "whose every eighth turn follows another turn",
      turns: chain(Array.from({ length: 20 }, (_, nth) => 8 * (nth + 1))),
    },
    {
      name: "whose turns all follow the first",
      turns: chain([1, 2, 3]).map(({ turn }) => ({ turn, parent: turn > 1 ? 1 : null })),
    },
  ])("$name are complete, each from at most eight manifests", ({ turns }) => {
    const { frozen, restarted } = sessionOf(turns);
    for (const { place, paths } of frozen)
      expect([...(restarted.read(place)?.tree.keys() ?? [])].toSorted()).toEqual(paths.toSorted());
    expect(
      Math.max(...frozen.map(({ place }) => manifestsOf(restarted, place))),
    ).toBeLessThanOrEqual(8);
  });

  it("usually cost only their changes", () => {
    const { frozen, restarted } = sessionOf(chain(Array.from({ length: 40 }, (_, nth) => nth + 1)));
    const whole = frozen.filter(
      ({ place }) => restarted.frozen(place)?.parent === null && place.turn > 1,
    );
    expect(whole.length).toBeLessThanOrEqual(6);
    expect(whole.every(({ place }) => place.label.endsWith(".final"))).toBe(true);
  });
});
