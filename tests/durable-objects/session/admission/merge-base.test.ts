import { describe, expect, it } from "vitest";
import { mergeBase } from "../../../../durable-objects/session/admission/merge-base";
import type { ContextState } from "../../../../durable-objects/session/files/context-states";
import { initialState } from "../../../../durable-objects/session/files/context-states";
import type { IncludedTurn } from "../../../../src/protocol/api/contexts";
import type { FileEntry, TreeChanges } from "../../../../src/workspace/types";

/** Contents by path; `null` is no file. Contents count as their own hashes. */
type Files = Readonly<Record<string, string | null>>;
/**
 * A history of versions and turns. `leftOut`: the files that each version left out. `parent`: the
 * turn whose state is merged. `used`: the versions that its branch used. `entry`: the entry of the
 * newest version. `sent`: the files of the newest version. `forks`: the latest turn
 * that the parent and another turn are both based on; omitted: the other turn itself.
 */
type Situation = {
  versions: Readonly<Record<string, Files>>;
  leftOut?: Readonly<Record<string, Files>>;
  turns: Readonly<Record<number, { version: string; changes?: Files; entry?: Entry }>>;
  parent: number;
  used?: string[];
  sent?: string[];
  entry?: Entry | null;
  forks?: Readonly<Record<number, number | null>>;
};
type Entry = { turn: number; leftOut?: string[]; bases?: Files };

const toEntry = ({ turn, leftOut = [], bases = {} }: Entry): IncludedTurn => ({
  ...{ session: "session_0", turn, left_out: leftOut },
  bases: Object.entries(bases).map(([path, sha256]) => ({ path, sha256 })),
});
const toChanges = (files: Files): TreeChanges =>
  new Map(
    Object.entries(files).map(([path, hash]): [string, FileEntry | null] => [
      path,
      hash === null ? null : { hash, size: 1 },
    ]),
  );

/** The base of the merge of the parent and the newest version. */
async function baseIn({
  versions,
  leftOut = {},
  turns,
  parent,
  used,
  sent = [],
  entry = null,
  forks = {},
}: Situation): Promise<{ base: Files | null; bases: Files }> {
  const states = new Map(
    Object.entries(turns).map(([turn, { version, changes = {}, entry: seen }]) => [
      Number(turn),
      {
        ...initialState("site", version, seen ? toEntry(seen) : null),
        changes: toChanges(changes),
      } satisfies ContextState,
    ]),
  );
  const own = states.get(parent);
  if (!own) throw new Error("the situation has no parent");
  const { base, bases } = await mergeBase(
    {
      treeOf: async (id) =>
        versions[id]
          ? new Map(
              Object.entries(versions[id]).map(([path, hash]) => [
                path,
                { hash: hash ?? "", size: 1 },
              ]),
            )
          : null,
      leftOutOf: async (id) =>
        Object.entries(leftOut[id] ?? {}).map(([path, sha256]) => ({ path, sha256 })),
      endOf: (turn) => states.get(turn) ?? null,
    },
    {
      parent: own,
      versions: () => used ?? [own.version],
      forkWith: (turn) => (turn in forks ? (forks[turn] ?? null) : turn),
    },
    { entry: entry && toEntry(entry), tree: new Set(sent) },
  );
  const texts = base && [...base].map(([path, { hash }]) => [path, hash] as const);
  return { base: texts && Object.fromEntries(texts), bases: Object.fromEntries(bases) };
}

describe("the base of a merge is", () => {
  const rows: (Situation & { name: string; base: Files | null; bases?: Files })[] = [
    {
      name: "the parent's version, if the newest version names no turn",
      versions: { v1: { a: "1" } },
      turns: { 1: { version: "v1", changes: { a: "t" } } },
      parent: 1,
      base: { a: "1" },
    },
    {
      name: "unknown, if the parent's version was erased",
      versions: {},
      turns: { 1: { version: "v1" } },
      parent: 1,
      base: null,
    },
    {
      name: "the parent's version, if the named turn is not known",
      versions: { v1: { a: "1" } },
      turns: { 1: { version: "v1" } },
      ...{ parent: 1, entry: { turn: 9 } },
      base: { a: "1" },
    },
    {
      name: "the state of the named turn, if the parent's version is not newer",
      versions: { v1: { a: "1", b: "1" } },
      turns: { 1: { version: "v1", changes: { a: "t", b: null } } },
      ...{ parent: 1, entry: { turn: 1 } },
      base: { a: "t" },
    },
    {
      name: "for each file the later one of the named turn and a newer version of the parent",
      versions: { v1: { a: "1", b: "1", c: "1" }, v2: { a: "1", b: "2", c: "1" } },
      turns: { 1: { version: "v1", changes: { a: "t" } }, 2: { version: "v2" } },
      ...{ parent: 2, entry: { turn: 1 } },
      base: { a: "t", b: "2", c: "1" },
    },
    {
      name: "the parent's version, if it names the same turn",
      versions: { v1: { a: "1" }, v2: { a: "u" } },
      turns: {
        1: { version: "v1", changes: { a: "t" } },
        2: { version: "v2", entry: { turn: 1 } },
      },
      ...{ parent: 2, entry: { turn: 1 } },
      base: { a: "u" },
    },
    {
      name: "the state of the same turn for a file that is sent again",
      versions: { v1: { a: "1" }, v2: { a: "1" } },
      turns: {
        1: { version: "v1", changes: { b: "t" } },
        2: { version: "v2", entry: { turn: 1, leftOut: ["b"] } },
      },
      ...{ parent: 2, entry: { turn: 1 } },
      ...{ base: { a: "1" }, bases: { b: "t" } },
    },
    {
      name: "for a file that is sent again, its contents in the newest version of the branch with it",
      versions: { v1: { x: "1" }, v2: { x: "2" }, v3: { x: "3" }, v4: { a: "1" } },
      leftOut: { v4: { x: "3" } },
      turns: { 3: { version: "v4" } },
      ...{ parent: 3, used: ["v4", "v2", "v1"], sent: ["x"] },
      ...{ base: { a: "1" }, bases: { x: "2" } },
    },
    {
      name: "no file for a file that each version of the branch left out",
      versions: { v1: { x: "1" }, v2: { a: "1" }, v3: { a: "1" } },
      leftOut: { v2: { x: "1" }, v3: { x: "1" } },
      turns: { 2: { version: "v3" } },
      ...{ parent: 2, used: ["v3", "v2"], sent: ["x"] },
      ...{ base: { a: "1" }, bases: { x: null } },
    },
    {
      name: "no file for a file that was made after the branch's last version before it was left out",
      versions: { v1: { a: "1" }, v2: { a: "1", x: "1" }, v3: { a: "1" } },
      leftOut: { v3: { x: "1" } },
      turns: { 2: { version: "v3" } },
      ...{ parent: 2, used: ["v3", "v1"], sent: ["x"] },
      ...{ base: { a: "1" }, bases: { x: null } },
    },
    {
      name: "no file for a file that a version of the branch had deleted before it was left out",
      versions: { v1: { x: "1" }, v2: { a: "1" }, v4: { a: "1" } },
      leftOut: { v4: { x: "3" } },
      turns: { 3: { version: "v4" } },
      ...{ parent: 3, used: ["v4", "v2", "v1"], sent: ["x"] },
      ...{ base: { a: "1" }, bases: { x: null } },
    },
    {
      name: "not looked for, if a left-out file is not sent again",
      versions: { v1: { x: "1" }, v2: { a: "1" } },
      leftOut: { v2: { x: "1" } },
      turns: { 2: { version: "v2" } },
      ...{ parent: 2, used: ["v2", "v1"] },
      base: { a: "1" },
    },
    {
      name: "no file for a file that only versions beyond the limit have",
      versions: {
        ...{ v1: { x: "1" }, v2: { a: "" }, v3: { a: "" }, v4: { a: "" }, v5: { a: "" } },
        ...{ v6: { a: "" }, v7: { a: "" }, v8: { a: "" }, v9: { a: "" } },
      },
      leftOut: Object.fromEntries(
        ["v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9"].map((id) => [id, { x: "1" }]),
      ),
      turns: { 9: { version: "v9" } },
      ...{ parent: 9, used: ["v9", "v8", "v7", "v6", "v5", "v4", "v3", "v2", "v1"], sent: ["x"] },
      ...{ base: { a: "" }, bases: { x: null } },
    },
    {
      name: "the older base of a path, if the parent is based on the named turn",
      versions: { v1: { a: "1" }, v2: { a: "1", c: "8" } },
      turns: { 2: { version: "v2", changes: { c: "t" } }, 3: { version: "v2" } },
      ...{ parent: 3, entry: { turn: 2, bases: { c: "8" } } },
      ...{ base: { a: "1", c: "t" }, bases: { c: "8" } },
    },
    {
      name: "no older base of a path that the parent's version has changed later",
      versions: { v1: { c: "8" }, v2: { c: "9" } },
      turns: { 1: { version: "v1", changes: { c: "t" } }, 2: { version: "v2" } },
      ...{ parent: 2, entry: { turn: 1, bases: { c: "8" } } },
      base: { c: "9" },
    },
    {
      name: "the parent's version for a path with an older base that is later than the fork",
      versions: { v1: { a: "1" }, v2: { a: "1", c: "8" } },
      turns: { 1: { version: "v1" }, 2: { version: "v2", changes: { c: "t" } } },
      ...{ parent: 1, entry: { turn: 2, bases: { c: "8" } }, forks: { 2: 1 } },
      ...{ base: { a: "1", c: "t" }, bases: { c: null } },
    },
    {
      name: "an older base that the fork has, also if the parent has changed the file",
      versions: { v1: { c: "8" } },
      turns: {
        1: { version: "v1" },
        2: { version: "v1", changes: { c: "t" } },
        3: { version: "v1", changes: { c: "s" } },
      },
      ...{ parent: 3, entry: { turn: 2, bases: { c: "8" } }, forks: { 2: 1 } },
      ...{ base: { c: "t" }, bases: { c: "8" } },
    },
    {
      name: "an older base that only the parent has, if the branches have no turn in common",
      versions: { v1: { a: "1" } },
      turns: {
        2: { version: "v1", changes: { c: "t" } },
        3: { version: "v1", changes: { c: "8", d: "3" } },
      },
      ...{ parent: 3, entry: { turn: 2, bases: { c: "8", d: "9" } }, forks: { 2: null } },
      ...{ base: { a: "1", c: "t" }, bases: { c: "8", d: null } },
    },
  ];

  it.each(rows)("$name", async ({ name: _, base, bases = {}, ...situation }) => {
    expect(await baseIn(situation)).toEqual({ base, bases });
  });
});

it("a long trace of pulls ends: then the pulled turn alone is the base", async () => {
  const LENGTH = 12;
  const numbers = Array.from({ length: LENGTH }, (_, index) => index + 1);
  const id = (turn: number) => `v${String(turn).padStart(2, "0")}`;
  const { base } = await baseIn({
    versions: Object.fromEntries(numbers.map((turn) => [id(turn), { own: `${turn}` }])),
    turns: Object.fromEntries(
      numbers.map((turn) => [
        turn,
        {
          version: id(turn),
          changes: { team: `${turn}` },
          // each version was pushed after a pull of the turn before the last one
          ...(turn > 2 && { entry: { turn: turn - 2 } }),
        },
      ]),
    ),
    parent: LENGTH,
    entry: { turn: LENGTH - 1 },
  });
  expect(base).toEqual({ own: `${LENGTH}`, team: `${LENGTH - 1}` });
});
