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
 * Stores the snapshots of a session. Each turn adds one file to the files of its parent turn, and
 * freezes the tree as an answer and as the result.
 */
function sessionOf(turns: readonly { turn: number; parent: number | null }[]) {
  const { sql } = disk().state(
    () => {},
    () => {},
  ).storage;
  createTables(sql);
  const parents = new Map(turns.map(({ turn, parent }) => [turn, parent]));
  const newStore = () =>
    new SnapshotStore(sql, {
      parentOf: (turn) => parents.get(turn) ?? null,
      completedWith: () => 1,
    });
  const store = newStore();
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
  return { frozen, restarted: newStore() };
}

/** The number of manifests that a tree is read from. */
function manifestsOf(store: SnapshotStore, place: SnapshotPlace): number {
  const parent = store.frozen(place)?.parent ?? null;
  return parent === null ? 1 : 1 + manifestsOf(store, parent);
}

/** Turns of which each follows the turn before it in the list. */
const chain = (turns: readonly number[]) =>
  turns.map((turn, index) => ({ turn, parent: turns[index - 1] ?? null }));

describe("the trees of a session", () => {
  it.each([
    {
      name: "in which each turn follows the turn before",
      turns: chain(Array.from({ length: 40 }, (_, nth) => nth + 1)),
    },
    {
      name: "in which each turn follows the turn eight numbers before",
      turns: chain(Array.from({ length: 20 }, (_, nth) => 1 + 8 * nth)),
    },
    {
      name: "in which the numbers of all turns are multiples of eight",
      turns: chain(Array.from({ length: 20 }, (_, nth) => 8 * (nth + 1))),
    },
    {
      name: "in which all turns follow the first turn",
      turns: chain([1, 2, 3]).map(({ turn }) => ({ turn, parent: turn > 1 ? 1 : null })),
    },
  ])("$name are complete and are each read from at most eight manifests", ({ turns }) => {
    const { frozen, restarted } = sessionOf(turns);
    for (const { place, paths } of frozen)
      expect([...(restarted.read(place)?.tree.keys() ?? [])].toSorted()).toEqual(paths.toSorted());
    expect(
      Math.max(...frozen.map(({ place }) => manifestsOf(restarted, place))),
    ).toBeLessThanOrEqual(8);
  });

  it("are usually stored as differences only", () => {
    const { frozen, restarted } = sessionOf(chain(Array.from({ length: 40 }, (_, nth) => nth + 1)));
    const completeSnapshots = frozen.filter(
      ({ place }) => restarted.frozen(place)?.parent === null && place.turn > 1,
    );
    expect(completeSnapshots.length).toBeLessThanOrEqual(6);
    expect(completeSnapshots.every(({ place }) => place.label.endsWith(".final"))).toBe(true);
  });
});
