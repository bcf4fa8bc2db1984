import { describe, expect, it } from "vitest";
import type { IncludedTurn, Includes } from "../../src/protocol/api/contexts";
import { RECORD_LIMITS } from "../../src/protocol/context-limits";
import {
  basesAfter,
  combineLeftOut,
  combineRecords,
  decodeLeftOut,
  decodeRecord,
  encodeRecord,
  inheritedEntries,
  laterTurns,
  sameRecordEntry,
} from "../../src/uploads/records";

const of = (session: string, turn: number, more: Partial<IncludedTurn> = {}): IncludedTurn => ({
  session,
  turn,
  ...more,
});
const long = (session: string, paths: number): IncludedTurn =>
  of(session, 1, { left_out: Array.from({ length: paths }, (_, at) => `${"p".repeat(90)}${at}`) });
const many = (count: number): Includes =>
  Array.from({ length: count }, (_, at) => of(`session_${at}`, 1));

describe("the record of a pushed version", () => {
  it.each([
    { name: "is the request's, without a base", inherited: [], own: [of("a", 2)], record: ["a2"] },
    {
      name: "inherits entries of sessions that the request does not name",
      inherited: [of("a", 1), of("b", 4)],
      own: [of("a", 2)],
      record: ["b4", "a2"],
    },
    {
      name: "is the base's if the request names no session",
      inherited: [of("a", 1)],
      own: [],
      record: ["a1"],
    },
    {
      name: "may name an earlier turn than the base, after a pull from another branch",
      inherited: [of("a", 3)],
      own: [of("a", 2)],
      record: ["a2"],
    },
  ])("$name", ({ inherited, own, record }) => {
    expect(combineRecords(inherited, own).map(({ session, turn }) => session + turn)).toEqual(
      record,
    );
  });

  it("keeps the later turn of each session if the request was made on an older version", () => {
    const record = laterTurns([of("a", 3), of("b", 2)], [of("a", 2), of("b", 2), of("c", 1)]);
    expect(record.map(({ session, turn }) => session + turn)).toEqual(["b2", "c1"]);
  });

  it("drops its oldest entries above the maximum number", () => {
    const record = combineRecords(many(RECORD_LIMITS.entries), [of("new", 1)]);
    expect(record.length).toBe(RECORD_LIMITS.entries);
    expect([record[0]?.session, record.at(-1)?.session]).toEqual(["session_1", "new"]);
  });

  it("drops its oldest entries above the maximum size", () => {
    const record = combineRecords([long("old", 2_000), of("small", 1)], [long("new", 1_500)]);
    expect(record.map(({ session }) => session)).toEqual(["small", "new"]);
  });

  it("is refused if the request's own entries are too large", () => {
    expect(() => combineRecords([], [long("a", 1_500), long("b", 1_500)])).toThrow(
      expect.objectContaining({ code: "record_too_large" }),
    );
  });

  it.each([null, "", "no json", '[{"session":"session_0123456789"}]'])(
    "is empty if the stored text is %j",
    (text) => expect(decodeRecord(text)).toEqual([]),
  );
});

describe("the left-out files of a version", () => {
  const file = (path: string, sha256: string | null = "old") => ({ path, sha256 });
  const has = (...paths: string[]) => new Set(paths);
  it.each([
    { name: "are the request's", inherited: [], own: [file("x")], tree: has(), left: [file("x")] },
    {
      name: "are also the base's, while the version lacks them",
      inherited: [file("x"), file("y")],
      own: [],
      tree: has("y"),
      left: [file("x")],
    },
    {
      name: "have their older contents if both name them",
      inherited: [file("x", "oldest")],
      own: [file("x", "old")],
      tree: has(),
      left: [file("x", "oldest")],
    },
  ])("$name", ({ inherited, own, tree, left }) => {
    expect(combineLeftOut(inherited, own, tree)).toEqual(left);
  });

  it("are named by their folder if many are inherited, and refused if the request sends too many", () => {
    const many = Array.from({ length: 5_000 }, (_, at) => file(`data/${"p".repeat(100)}${at}`));
    expect(combineLeftOut(many, [file("x")], has())).toEqual([file("x"), file("data/", null)]);
    const ofRoot = many.map(({ path }) => file(path.replace("/", "-")));
    for (const [inherited, own] of [
      [[], many],
      [ofRoot, []],
    ] as const)
      expect(() => combineLeftOut([...inherited], [...own], has())).toThrow(
        expect.objectContaining({ code: "record_too_large" }),
      );
  });

  it.each([
    { name: "stays while the version has no file below it", own: [], tree: has(), left: ["data/"] },
    { name: "ends with a file below it", own: [], tree: has("data/1"), left: [] },
    {
      name: "stays if the request names it again",
      own: [file("data/")],
      tree: has("data/1"),
      left: ["data/"],
    },
    {
      name: "stands for the files that the request names below it",
      own: [file("data/2"), file("x")],
      tree: has(),
      left: ["x", "data/"],
    },
  ])("a folder of the base $name", ({ own, tree, left }) => {
    const paths = combineLeftOut([file("data/")], own, tree).map(({ path }) => path);
    expect(paths).toEqual(left);
  });

  it("are stored beside the entries", () => {
    const hash = "a".repeat(64);
    const entries = [of("session_0123456789", 1)];
    const text = encodeRecord(entries, [file("x", hash)]);
    expect([decodeRecord(text), decodeLeftOut(text)]).toEqual([entries, [file("x", hash)]]);
    expect([encodeRecord([]), decodeLeftOut(encodeRecord(entries))]).toEqual([null, []]);
  });
});

describe("an entry that a version inherits", () => {
  const tree = (files: Readonly<Record<string, string>>) =>
    new Map(Object.entries(files).map(([path, hash]) => [path, { hash, size: 1 }]));
  it.each([
    {
      name: "keeps a left-out file that neither version has",
      ...{ base: {}, leftOut: [{ path: "x", sha256: "old" }], after: {}, left: ["x"], bases: [] },
    },
    {
      name: "keeps a partly taken file that has not changed",
      ...{ base: { x: "part" }, leftOut: [], after: { x: "part" }, left: ["x"], bases: [] },
    },
    {
      name: "gives a left-out file that the sender added its last contents as older base",
      ...{ base: {}, leftOut: [{ path: "x", sha256: "old" }], after: { x: "new" } },
      ...{ left: [], bases: [{ path: "x", sha256: "old" }] },
    },
    {
      name: "gives a left-out file that no version had an empty base",
      ...{ base: {}, leftOut: [], after: { x: "new" }, left: [] },
      bases: [{ path: "x", sha256: null }],
    },
    {
      name: "gives a partly taken file that the sender changed an older base",
      ...{ base: { x: "part" }, leftOut: [], after: { x: "new" }, left: [] },
      bases: [{ path: "x", sha256: "part" }],
    },
    {
      name: "gives a partly taken file that the sender deleted an older base",
      ...{ base: { x: "part" }, leftOut: [], after: {}, left: [] },
      bases: [{ path: "x", sha256: "part" }],
    },
  ])("$name", ({ base, leftOut, after, left, bases }) => {
    const version = { tree: tree(after), base: tree(base), leftOut };
    const [entry] = inheritedEntries([of("a", 1, { left_out: ["x"] })], version);
    expect([entry?.left_out ?? [], entry?.bases ?? []]).toEqual([left, bases]);
  });

  it("gives a file that the sender added below a left-out folder an empty base", () => {
    const entry = of("a", 1, { left_out: ["d/"] });
    const version = { tree: tree({ "d/x": "new" }), base: tree({}), leftOut: [] };
    const bases = [{ path: "d/x", sha256: null }];
    expect(inheritedEntries([entry], version)).toEqual([{ ...entry, bases }]);
  });

  it("keeps the older base that an entry already has", () => {
    const entry = of("a", 1, { left_out: ["x"], bases: [{ path: "x", sha256: "oldest" }] });
    const version = { tree: tree({ x: "new" }), base: tree({ x: "part" }), leftOut: [] };
    expect(inheritedEntries([entry], version)).toEqual([of("a", 1, { bases: entry.bases ?? [] })]);
  });
});

describe("two entries", () => {
  it.each([
    { name: "are equal without lists", a: of("a", 1), b: of("a", 1), same: true },
    { name: "differ by the turn", a: of("a", 1), b: of("a", 2), same: false },
    { name: "differ if one is missing", a: of("a", 1), b: null, same: false },
    { name: "are equal if both are missing", a: null, b: null, same: true },
    {
      name: "are equal if an empty list is omitted",
      a: of("a", 1, { left_out: [], bases: [] }),
      b: of("a", 1),
      same: true,
    },
    {
      name: "are equal in another order of paths",
      a: of("a", 1, { left_out: ["x", "y"] }),
      b: of("a", 1, { left_out: ["y", "x"] }),
      same: true,
    },
    {
      name: "differ by a skipped path",
      a: of("a", 1, { bases: [{ path: "x", sha256: null }] }),
      b: of("a", 1),
      same: false,
    },
  ])("$name", ({ a, b, same }) => expect(sameRecordEntry(a, b)).toBe(same));
});

describe("an entry of the same turn as the entry before it", () => {
  const stateHash = (path: string): string | null => (path === "gone" ? null : `state of ${path}`);
  const older = [{ path: "x", sha256: null }];
  it.each([
    { name: "has no other bases if it is equal", before: {}, entry: {}, bases: [] },
    {
      name: "has the turn's state as base of a path that is sent again",
      before: { left_out: ["x", "gone", "still"] },
      entry: { left_out: ["still"] },
      bases: [
        ["x", "state of x"],
        ["gone", null],
      ],
    },
    {
      name: "has the older base of a path that is sent again and was never pulled",
      before: { left_out: ["x"] },
      entry: { bases: older },
      bases: [["x", null]],
    },
    {
      name: "has the turn's state as base of a path that was pulled since",
      before: { bases: older },
      entry: {},
      bases: [["x", "state of x"]],
    },
    {
      name: "has no other bases for paths that are left out now, or are still skipped",
      before: { bases: older },
      entry: { left_out: ["y"], bases: older },
      bases: [],
    },
  ])("$name", ({ before, entry, bases }) => {
    const found = basesAfter(of("a", 1, before), of("a", 1, entry), stateHash);
    expect([...found]).toEqual(bases);
  });
});
