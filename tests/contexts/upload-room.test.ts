import { describe, expect, it } from "vitest";
import { MANIFEST_BYTES, memoryOf, type RoomLimits, UploadRoom, type Visit } from "../../src/contexts/upload-room";

const LIMITS: RoomLimits = { bytes: 100, waiting: 2, silentMs: 5, stillMs: 60, longestMs: 200 };

/** What uploads by name do in a room, one step after the other; gives those who may begin when asked in this order. */
type Step =
  | { at: number; comes: string; bytes: number }
  | { at: number; asks: readonly string[] }
  | { at: number; goesOn: string }
  | { at: number; leaves: string };

function played(steps: readonly Step[]): string[] {
  const room = new UploadRoom(LIMITS);
  const visits = new Map<string, Visit>();
  const told: string[] = [];
  const of = (name: string): Visit => visits.get(name) ?? { bytes: 0, isInside: false, begunAt: 0, seenAt: 0 };
  for (const step of steps) {
    if ("comes" in step) {
      const visit = room.come(step.bytes, step.at);
      if (visit) visits.set(step.comes, visit);
      else told.push(`${step.comes} is turned away`);
    } else if ("asks" in step) {
      for (const name of step.asks) told.push(`${name} ${room.mayBegin(of(name), step.at) ? "begins" : "waits"}`);
    } else if ("goesOn" in step) told.push(`${step.goesOn} ${room.goesOn(of(step.goesOn), step.at) ? "goes on" : "must stop"}`);
    else room.leave(of(step.leaves));
  }
  return told;
}

const came = (comes: string, bytes: number, at = 0): Step => ({ at, comes, bytes });
const asks = (...names: string[]): Step => ({ at: 0, asks: names });

describe("room for uploads", () => {
  it.each([
    {
      name: "is given as long as there is some",
      steps: [came("a", 60), came("b", 40), asks("a", "b")],
      then: ["a begins", "b begins"],
    },
    {
      name: "is waited for by whoever finds too little, until another has left",
      steps: [came("a", 60), asks("a"), came("b", 41), asks("b"), { at: 1, leaves: "a" }, asks("b")],
      then: ["a begins", "b waits", "b begins"],
    },
    {
      name: "is given in order: what is small does not overtake what is large",
      steps: [came("a", 60), asks("a"), came("large", 50), came("small", 1), asks("small", "large"), { at: 1, leaves: "a" }],
      then: ["a begins", "small waits", "large waits"],
    },
    {
      name: "is all given to one that wants more than there is",
      steps: [came("a", 1), came("huge", 1_000), asks("a", "huge"), { at: 1, leaves: "a" }, asks("huge")],
      then: ["a begins", "huge waits", "huge begins"],
    },
    {
      name: "is waited for by so many, and the next is turned away at once",
      steps: [came("a", 100), asks("a"), came("b", 1), came("c", 1), came("d", 1)],
      then: ["a begins", "d is turned away"],
    },
    {
      name: "is no longer waited for by who has been silent",
      steps: [came("a", 60), asks("a"), came("gone", 50), came("b", 40, 3), { at: 6, asks: ["b"] }],
      then: ["a begins", "b begins"],
    },
    {
      name: "stays whose it is as long as something comes",
      steps: [came("a", 100), asks("a"), { at: 60, goesOn: "a" }, { at: 120, goesOn: "a" }, came("b", 1, 120), asks("b")],
      then: ["a begins", "a goes on", "a goes on", "b waits"],
    },
    {
      name: "is another's once nothing has come for too long, and then it must stop",
      steps: [came("a", 100), asks("a"), came("b", 1, 61), { at: 61, asks: ["b"] }, { at: 62, goesOn: "a" }],
      then: ["a begins", "b begins", "a must stop"],
    },
    {
      name: "is not held for longer than the longest may take, whatever comes",
      steps: [came("a", 9), asks("a"), ...[50, 100, 150, 200, 201].map((at): Step => ({ at, goesOn: "a" }))],
      then: ["a begins", "a goes on", "a goes on", "a goes on", "a goes on", "a must stop"],
    },
    {
      name: "is there again once everyone has left, twice for one",
      steps: [
        came("a", 100),
        asks("a"),
        { at: 0, leaves: "a" },
        { at: 0, leaves: "a" },
        came("b", 100),
        came("c", 1),
        asks("b", "c"),
      ],
      then: ["a begins", "b begins", "c waits"],
    },
  ] satisfies { name: string; steps: Step[]; then: string[] }[])("$name", ({ steps, then }) => {
    expect(played(steps)).toEqual(then);
  });
});

describe("an upload's memory", () => {
  it("is, for the largest manifest, no more than there is for all", () => {
    expect(memoryOf("manifest", null)).toBeLessThan(80_000_000);
  });

  const [MB, names] = [1_000_000, 4_000_000];
  it.each([
    { name: "a zip's is the most, however small it is", kind: "zip", told: 1, most: names + 40 * MB },
    { name: "gzip may hold as much as any tar", kind: "gzip", told: 1, most: names + 32 * MB },
    { name: "a small tar's is at most twice its length", kind: "tar", told: 3 * MB, most: names + 6 * MB },
    { name: "a large tar's is a file's and what is on its way", kind: "tar", told: 90 * MB, most: names + 32 * MB },
    { name: "a tar's of unknown length is that too", kind: "tar", told: null, most: names + 32 * MB },
    { name: "a blob's is its own", kind: "blob", told: 2 * MB, most: names + 2 * MB },
    { name: "a blob's of unknown length is the largest's", kind: "blob", told: null, most: names + 16 * MB },
    { name: "a manifest's is several times its length", kind: "manifest", told: 4 * MB, most: names + 24 * MB },
    { name: "a manifest's of unknown length is the largest's", kind: "manifest", told: null, most: names + 6 * MANIFEST_BYTES },
  ] as const)("$name", ({ kind, told, most }) => {
    expect(memoryOf(kind, told)).toBe(most);
  });
});
