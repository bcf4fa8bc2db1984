import { describe, expect, it } from "vitest";
import {
  MANIFEST_BYTES,
  memoryOf,
  type RoomLimits,
  UploadRoom,
  type Visit,
} from "../../src/uploads/upload-room";

const LIMITS: RoomLimits = {
  ...{ bytes: 200, waiting: 4, silentMs: 5, stillMs: 60, longestMs: 200 },
  ...{ paceAfterMs: 100, leastBytesPerSecond: 1_000 },
};

/**
 * What uploads by name do in a room, one step after the other; gives those who may begin when asked
 * in this order. An upload is of the tenant that its first letter names.
 */
type Step =
  | { at: number; comes: string; bytes: number }
  | { at: number; asks: readonly string[] }
  | { at: number; goesOn: string }
  | { at: number; waits: string }
  | { at: number; receives: string; bytes: number }
  | { at: number; grows: string; bytes: number }
  | { at: number; leaves: string };

function played(steps: readonly Step[]): string[] {
  const room = new UploadRoom(LIMITS);
  const visits = new Map<string, Visit>();
  const told: string[] = [];
  const of = (name: string): Visit => {
    const visit = visits.get(name);
    if (!visit) throw new Error(`${name} has not come`);
    return visit;
  };
  for (const step of steps) {
    if ("comes" in step) {
      const visit = room.come(step.comes.slice(0, 1), step.bytes, step.at);
      if (visit) visits.set(step.comes, visit);
      else told.push(`${step.comes} is turned away`);
    } else if ("asks" in step) {
      for (const name of step.asks)
        told.push(`${name} ${room.mayBegin(of(name), step.at) ? "begins" : "waits"}`);
    } else if ("goesOn" in step)
      told.push(
        `${step.goesOn} ${room.goesOn(of(step.goesOn), step.at) ? "goes on" : "must stop"}`,
      );
    else if ("waits" in step) room.waits(of(step.waits), step.at);
    else if ("receives" in step)
      told.push(
        `${step.receives} ${room.came(of(step.receives), step.bytes, step.at) ? "goes on" : "must stop"}`,
      );
    else if ("grows" in step)
      told.push(
        `${step.grows} ${room.grow(of(step.grows), step.bytes, step.at) ? "grows" : "cannot grow"}`,
      );
    else room.leave(of(step.leaves));
  }
  return told;
}

const came = (comes: string, bytes: number, at = 0): Step => ({ at, comes, bytes });
const asks = (...names: string[]): Step => ({ at: 0, asks: names });
const grows = (name: string, bytes: number): Step => ({ at: 0, grows: name, bytes });
/** Waits for the client from one time to the other, and then so many bytes come. */
const arrives = (name: string, from: number, at: number, bytes: number): Step[] => [
  { at: from, waits: name },
  { at, receives: name, bytes },
];

describe("room for uploads", () => {
  it.each([
    {
      name: "is given as long as there is some",
      steps: [came("a", 60), came("b", 40), asks("a", "b")],
      then: ["a begins", "b begins"],
    },
    {
      name: "is awaited by an upload that finds too little, until another has left",
      steps: [
        came("a", 60),
        asks("a"),
        came("ab", 41),
        asks("ab"),
        { at: 1, leaves: "a" },
        asks("ab"),
      ],
      then: ["a begins", "ab waits", "ab begins"],
    },
    {
      name: "is given in order: what is small does not overtake what is large",
      steps: [
        ...[came("a", 60), came("b", 100), asks("a", "b"), came("large", 50), came("small", 1)],
        ...[asks("small", "large"), { at: 1, leaves: "a" } as const],
      ],
      then: ["a begins", "b begins", "small waits", "large waits"],
    },
    {
      name: "is half given to one that wants more than there is",
      steps: [
        came("a", 1),
        came("ahuge", 1_000),
        asks("a", "ahuge"),
        { at: 1, leaves: "a" },
        asks("ahuge"),
        came("b", 100),
        asks("b"),
      ],
      then: ["a begins", "ahuge waits", "ahuge begins", "b begins"],
    },
    {
      name: "is awaited by a limited number of uploads, and the next is refused at once",
      steps: [
        came("a", 100),
        came("b", 100),
        asks("a", "b"),
        ...["c", "d", "e", "f", "g"].map((name) => came(name, 1)),
      ],
      then: ["a begins", "b begins", "g is turned away"],
    },
    {
      name: "is never more than half for one tenant, and its queue no more than half; others begin at once (M8)",
      steps: [
        ...[
          came("a1", 60),
          came("a2", 40),
          asks("a1", "a2"),
          came("a3", 1),
          came("a4", 1),
          came("a5", 1),
        ],
        ...[asks("a3"), came("b", 100), asks("b")],
      ],
      then: ["a1 begins", "a2 begins", "a5 is turned away", "a3 waits", "b begins"],
    },
    {
      name: "is not given to a small upload before a large one of the same tenant, though another tenant's passes both (M8)",
      steps: [
        came("a", 60),
        asks("a"),
        came("alarge", 50),
        came("asmall", 1),
        came("b", 1),
        asks("asmall", "alarge", "b"),
      ],
      then: ["a begins", "asmall waits", "alarge waits", "b begins"],
    },
    {
      name: "grows beyond a tenant's half only while no other tenant waits (M8)",
      steps: [
        ...[
          came("a", 10),
          asks("a"),
          grows("a", 100),
          grows("a", 150),
          came("b", 60),
          asks("b"),
          grows("a", 151),
        ],
        ...[{ at: 0, leaves: "a" } as const, asks("b")],
      ],
      then: ["a begins", "a grows", "a grows", "b waits", "a cannot grow", "b begins"],
    },
    {
      name: "does not grow beyond what there is (M8)",
      steps: [
        came("a", 10),
        came("b", 100),
        asks("a", "b"),
        grows("a", 100),
        grows("a", 101),
        grows("a", 50),
      ],
      then: ["a begins", "b begins", "a grows", "a cannot grow", "a grows"],
    },
    {
      name: "is another's once too little has come for its time, though its client says nothing, and then it must stop (M8)",
      steps: [
        ...[came("a", 100), asks("a"), ...arrives("a", 0, 50, 60), { at: 50, waits: "a" } as const],
        ...[
          came("ab", 1, 105),
          { at: 105, asks: ["ab"] },
          { at: 106, receives: "a", bytes: 9 } as const,
        ],
      ],
      then: ["a begins", "a goes on", "ab begins", "a must stop"],
    },
    {
      name: "is lost to a byte now and then, and stays with one that keeps the pace (M8)",
      steps: [
        ...[came("a", 50), came("b", 50), asks("a", "b")],
        ...[0, 40, 80, 120].flatMap((at) => [
          ...arrives("a", at, at + 40, 1),
          ...arrives("b", at, at + 40, 40),
        ]),
      ],
      then: [
        "a begins",
        "b begins",
        ...["a goes on", "b goes on", "a goes on", "b goes on"],
        ...["a must stop", "b goes on", "a must stop", "b goes on"],
      ],
    },
    {
      name: "is not lost by work on what has come, however long it takes (M8)",
      steps: [
        came("a", 50),
        asks("a"),
        ...arrives("a", 0, 1, 1),
        { at: 60, goesOn: "a" },
        { at: 119, goesOn: "a" },
      ],
      then: ["a begins", "a goes on", "a goes on", "a goes on"],
    },
    {
      name: "is no longer waited for by who has been silent",
      steps: [
        came("a", 60),
        came("z", 100),
        asks("a", "z"),
        came("gone", 50),
        came("b", 40, 3),
        { at: 6, asks: ["b"] },
      ],
      then: ["a begins", "z begins", "b begins"],
    },
    {
      name: "stays reserved as long as bytes arrive",
      steps: [
        came("a", 100),
        asks("a"),
        { at: 60, goesOn: "a" },
        { at: 120, goesOn: "a" },
        came("ab", 1, 120),
        asks("ab"),
      ],
      then: ["a begins", "a goes on", "a goes on", "ab waits"],
    },
    {
      name: "is another's once nothing has come for too long, and then it must stop",
      steps: [
        came("a", 100),
        asks("a"),
        came("ab", 1, 61),
        { at: 61, asks: ["ab"] },
        { at: 62, goesOn: "a" },
      ],
      then: ["a begins", "ab begins", "a must stop"],
    },
    {
      name: "is not held beyond the longest upload time, even if bytes arrive",
      steps: [
        came("a", 9),
        asks("a"),
        ...[50, 100, 150, 200, 201].map((at): Step => ({ at, goesOn: "a" })),
      ],
      then: ["a begins", "a goes on", "a goes on", "a goes on", "a goes on", "a must stop"],
    },
    {
      name: "is there again once everyone has left, twice for one",
      steps: [
        came("a", 100),
        asks("a"),
        { at: 0, leaves: "a" },
        { at: 0, leaves: "a" },
        came("ab", 100),
        came("ac", 1),
        asks("ab", "ac"),
      ],
      then: ["a begins", "ab begins", "ac waits"],
    },
  ] satisfies { name: string; steps: Step[]; then: string[] }[])("$name", ({ steps, then }) => {
    expect(played(steps)).toEqual(then);
  });
});

describe("an upload's memory", () => {
  it("is, for the largest manifest, no more than there is for all", () => {
    expect(memoryOf("manifest", MANIFEST_BYTES)).toBeLessThan(80_000_000);
  });

  it("is, for everything else, no more than one tenant's half (M8)", () => {
    const kinds = ["zip", "gzip", "tar", "blob"] as const;
    expect(Math.max(...kinds.map((kind) => memoryOf(kind, null)))).toBeLessThanOrEqual(40_000_000);
  });

  const [MB, names] = [1_000_000, 4_000_000];
  it.each([
    {
      name: "a zip's is the most, however small it is",
      kind: "zip",
      told: 1,
      most: names + 36 * MB,
    },
    { name: "gzip may hold as much as any tar", kind: "gzip", told: 1, most: names + 28 * MB },
    {
      name: "a small tar's is at most twice its length",
      kind: "tar",
      told: 3 * MB,
      most: names + 6 * MB,
    },
    {
      name: "a large tar's is a file's and what is on its way",
      kind: "tar",
      told: 90 * MB,
      most: names + 28 * MB,
    },
    {
      name: "a tar's of unknown length is that too",
      kind: "tar",
      told: null,
      most: names + 28 * MB,
    },
    { name: "a blob's is its own", kind: "blob", told: 2 * MB, most: names + 2 * MB },
    {
      name: "a blob's of unknown length is the largest's",
      kind: "blob",
      told: null,
      most: names + 16 * MB,
    },
    {
      name: "a manifest's is several times its length",
      kind: "manifest",
      told: 4 * MB,
      most: names + 24 * MB,
    },
    {
      name: "a manifest's of which nothing has come is that of names",
      kind: "manifest",
      told: 0,
      most: names,
    },
  ] as const)("$name", ({ kind, told, most }) => {
    expect(memoryOf(kind, told)).toBe(most);
  });
});
