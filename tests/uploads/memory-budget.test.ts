import { describe, expect, it } from "vitest";
import {
  MANIFEST_BYTES,
  memoryOf,
  type MemoryLimits,
  MemoryBudget,
  type Reservation,
} from "../../src/uploads/memory-budget";

const LIMITS: MemoryLimits = {
  ...{ bytes: 200, maxWaiting: 4, maxPollGapMs: 5, maxIdleMs: 60, maxDurationMs: 200 },
  ...{ slowAfterMs: 100, minBytesPerSecond: 1_000 },
};

/**
 * One step of uploads by name in a memory budget. `asks`: the uploads that ask to start, in order.
 * An upload belongs to the tenant named by its first letter.
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
  const memory = new MemoryBudget(LIMITS);
  const visits = new Map<string, Reservation>();
  const log: string[] = [];
  const of = (name: string): Reservation => {
    const reservation = visits.get(name);
    if (!reservation) throw new Error(`${name} has not come`);
    return reservation;
  };
  for (const step of steps) {
    if ("comes" in step) {
      const reservation = memory.enqueue(step.comes.slice(0, 1), step.bytes, step.at);
      if (reservation) visits.set(step.comes, reservation);
      else log.push(`${step.comes} is turned away`);
    } else if ("asks" in step) {
      for (const name of step.asks)
        log.push(`${name} ${memory.tryStart(of(name), step.at) ? "begins" : "waits"}`);
    } else if ("goesOn" in step)
      log.push(
        `${step.goesOn} ${memory.reportProgress(of(step.goesOn), step.at) ? "goes on" : "must stop"}`,
      );
    else if ("waits" in step) memory.startWait(of(step.waits), step.at);
    else if ("receives" in step)
      log.push(
        `${step.receives} ${memory.receive(of(step.receives), step.bytes, step.at) ? "goes on" : "must stop"}`,
      );
    else if ("grows" in step)
      log.push(
        `${step.grows} ${memory.grow(of(step.grows), step.bytes, step.at) ? "grows" : "cannot grow"}`,
      );
    else memory.release(of(step.leaves));
  }
  return log;
}

const came = (comes: string, bytes: number, at = 0): Step => ({ at, comes, bytes });
const asks = (...names: string[]): Step => ({ at: 0, asks: names });
const grows = (name: string, bytes: number): Step => ({ at: 0, grows: name, bytes });
/** Waits for the client from one time to the other; then this many bytes arrive. */
const arrives = (name: string, from: number, at: number, bytes: number): Step[] => [
  { at: from, waits: name },
  { at, receives: name, bytes },
];

describe("memory for uploads", () => {
  it.each([
    {
      name: "is granted while some is free",
      steps: [came("a", 60), came("b", 40), asks("a", "b")],
      then: ["a begins", "b begins"],
    },
    {
      name: "is awaited by an upload that finds too little, until another has ended",
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
      name: "is granted in order: a small upload does not overtake a large one",
      steps: [
        ...[came("a", 60), came("b", 100), asks("a", "b"), came("large", 50), came("small", 1)],
        ...[asks("small", "large"), { at: 1, leaves: "a" } as const],
      ],
      then: ["a begins", "b begins", "small waits", "large waits"],
    },
    {
      name: "is granted in half to an upload that needs more than the total",
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
      name: "is at most half for one tenant, and its queue at most half; others start at once (M8)",
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
      name: "is not granted to a small upload before a large one of the same tenant, though another tenant's overtakes both (M8)",
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
      name: "does not grow beyond the total (M8)",
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
      name: "is released once too few bytes have arrived for its time, even if its client is silent, and the upload must stop (M8)",
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
      name: "is released from an upload with an occasional byte, and kept by one with the required rate (M8)",
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
      name: "is kept during work on received bytes, for any time (M8)",
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
      name: "is no longer awaited by a silent upload",
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
      name: "stays reserved while bytes arrive",
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
      name: "is released once no bytes have arrived for too long, and the upload must stop",
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
      name: "is not kept beyond the longest upload time, even if bytes arrive",
      steps: [
        came("a", 9),
        asks("a"),
        ...[50, 100, 150, 200, 201].map((at): Step => ({ at, goesOn: "a" })),
      ],
      then: ["a begins", "a goes on", "a goes on", "a goes on", "a goes on", "a must stop"],
    },
    {
      name: "is free again once all uploads have ended, also if one ends twice",
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
  it("is at most the total for the largest manifest", () => {
    expect(memoryOf("manifest", MANIFEST_BYTES)).toBeLessThan(80_000_000);
  });

  it("is at most one tenant's half for everything else (M8)", () => {
    const kinds = ["zip", "gzip", "tar", "blob"] as const;
    expect(Math.max(...kinds.map((kind) => memoryOf(kind, null)))).toBeLessThanOrEqual(40_000_000);
  });

  const [MB, names] = [1_000_000, 4_000_000];
  it.each([
    {
      name: "for a zip is the largest, for any length",
      kind: "zip",
      declared: 1,
      most: names + 36 * MB,
    },
    { name: "for gzip is that of any tar", kind: "gzip", declared: 1, most: names + 28 * MB },
    {
      name: "for a small tar is at most twice its length",
      kind: "tar",
      declared: 3 * MB,
      most: names + 6 * MB,
    },
    {
      name: "for a large tar is that of a file and of blobs in transit",
      kind: "tar",
      declared: 90 * MB,
      most: names + 28 * MB,
    },
    {
      name: "for a tar of unknown length is the same",
      kind: "tar",
      declared: null,
      most: names + 28 * MB,
    },
    { name: "for a blob is its length", kind: "blob", declared: 2 * MB, most: names + 2 * MB },
    {
      name: "for a blob of unknown length is that of the largest",
      kind: "blob",
      declared: null,
      most: names + 16 * MB,
    },
    {
      name: "for a manifest is several times its length",
      kind: "manifest",
      declared: 4 * MB,
      most: names + 24 * MB,
    },
    {
      name: "for an empty manifest is that of its names",
      kind: "manifest",
      declared: 0,
      most: names,
    },
  ] as const)("$name", ({ kind, declared, most }) => {
    expect(memoryOf(kind, declared)).toBe(most);
  });
});
