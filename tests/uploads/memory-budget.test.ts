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
 * A step of one upload, which has a name; `tryStart` has several uploads, in this order. An upload
 * belongs to the tenant whose name is the first letter of the upload's name. `bytes`: memory that
 * the upload requests, or bytes of the body that it receives.
 */
type Step =
  | { at: number; enqueue: string; bytes: number }
  | { at: number; tryStart: readonly string[] }
  | { at: number; report: string }
  | { at: number; startWait: string }
  | { at: number; receive: string; bytes: number }
  | { at: number; grow: string; bytes: number }
  | { at: number; release: string };

/** Runs the steps in a memory budget. Returns the results as texts. */
function runSteps(steps: readonly Step[]): string[] {
  const memory = new MemoryBudget(LIMITS);
  const reservations = new Map<string, Reservation>();
  const results: string[] = [];
  const reservationOf = (name: string): Reservation => {
    const reservation = reservations.get(name);
    if (!reservation) throw new Error(`${name} is not in the queue`);
    return reservation;
  };
  const record = (name: string, isOk: boolean, [success, failure]: [string, string]) =>
    results.push(`${name} ${isOk ? success : failure}`);
  for (const step of steps) {
    if ("enqueue" in step) {
      const reservation = memory.enqueue(step.enqueue.slice(0, 1), step.bytes, step.at);
      if (reservation) reservations.set(step.enqueue, reservation);
      else results.push(`${step.enqueue} is refused`);
    } else if ("tryStart" in step)
      for (const name of step.tryStart)
        record(name, memory.tryStart(reservationOf(name), step.at), ["starts", "waits"]);
    else if ("report" in step) {
      const isAdmitted = memory.reportProgress(reservationOf(step.report), step.at);
      record(step.report, isAdmitted, ["continues", "must stop"]);
    } else if ("startWait" in step) memory.startWait(reservationOf(step.startWait), step.at);
    else if ("receive" in step) {
      const isAdmitted = memory.receive(reservationOf(step.receive), step.bytes, step.at);
      record(step.receive, isAdmitted, ["continues", "must stop"]);
    } else if ("grow" in step) {
      const hasGrown = memory.grow(reservationOf(step.grow), step.bytes, step.at);
      record(step.grow, hasGrown, ["grows", "cannot grow"]);
    } else memory.release(reservationOf(step.release));
  }
  return results;
}

const enqueue = (name: string, bytes: number, at = 0): Step => ({ at, enqueue: name, bytes });
const tryStart = (...names: string[]): Step => ({ at: 0, tryStart: names });
const grow = (name: string, bytes: number): Step => ({ at: 0, grow: name, bytes });
/** The upload waits for its client from `from` until `at`. Then this many bytes arrive. */
const receiveAfterWait = (name: string, from: number, at: number, bytes: number): Step[] => [
  { at: from, startWait: name },
  { at, receive: name, bytes },
];

describe("memory for uploads", () => {
  it.each([
    {
      name: "is granted while enough is free",
      steps: [enqueue("a", 60), enqueue("b", 40), tryStart("a", "b")],
      expected: ["a starts", "b starts"],
    },
    {
      name: "is granted to a waiting upload after another upload has ended",
      steps: [
        enqueue("a", 60),
        tryStart("a"),
        enqueue("ab", 41),
        tryStart("ab"),
        { at: 1, release: "a" },
        tryStart("ab"),
      ],
      expected: ["a starts", "ab waits", "ab starts"],
    },
    {
      name: "is granted in the order of arrival: a small upload does not overtake a large upload",
      steps: [
        ...[
          enqueue("a", 60),
          enqueue("b", 100),
          tryStart("a", "b"),
          enqueue("large", 50),
          enqueue("small", 1),
        ],
        ...[tryStart("small", "large"), { at: 1, release: "a" } as const],
      ],
      expected: ["a starts", "b starts", "small waits", "large waits"],
    },
    {
      name: "is limited to half of the total for an upload that needs more",
      steps: [
        enqueue("a", 1),
        enqueue("ahuge", 1_000),
        tryStart("a", "ahuge"),
        { at: 1, release: "a" },
        tryStart("ahuge"),
        enqueue("b", 100),
        tryStart("b"),
      ],
      expected: ["a starts", "ahuge waits", "ahuge starts", "b starts"],
    },
    {
      name: "has a limited number of waiting uploads; a further upload is refused at once",
      steps: [
        enqueue("a", 100),
        enqueue("b", 100),
        tryStart("a", "b"),
        ...["c", "d", "e", "f", "g"].map((name) => enqueue(name, 1)),
      ],
      expected: ["a starts", "b starts", "g is refused"],
    },
    {
      name: "is limited to half for one tenant, as is the queue; an upload of another tenant starts at once (M8)",
      steps: [
        ...[
          enqueue("a1", 60),
          enqueue("a2", 40),
          tryStart("a1", "a2"),
          enqueue("a3", 1),
          enqueue("a4", 1),
          enqueue("a5", 1),
        ],
        ...[tryStart("a3"), enqueue("b", 100), tryStart("b")],
      ],
      expected: ["a1 starts", "a2 starts", "a5 is refused", "a3 waits", "b starts"],
    },
    {
      name: "is not granted to a small upload before a large upload of its tenant, but to another tenant's upload (M8)",
      steps: [
        enqueue("a", 60),
        tryStart("a"),
        enqueue("alarge", 50),
        enqueue("asmall", 1),
        enqueue("b", 1),
        tryStart("asmall", "alarge", "b"),
      ],
      expected: ["a starts", "asmall waits", "alarge waits", "b starts"],
    },
    {
      name: "can grow beyond a tenant's half only while no other tenant waits (M8)",
      steps: [
        ...[
          enqueue("a", 10),
          tryStart("a"),
          grow("a", 100),
          grow("a", 150),
          enqueue("b", 60),
          tryStart("b"),
          grow("a", 151),
        ],
        ...[{ at: 0, release: "a" } as const, tryStart("b")],
      ],
      expected: ["a starts", "a grows", "a grows", "b waits", "a cannot grow", "b starts"],
    },
    {
      name: "cannot grow beyond the total (M8)",
      steps: [
        enqueue("a", 10),
        enqueue("b", 100),
        tryStart("a", "b"),
        grow("a", 100),
        grow("a", 101),
        grow("a", 50),
      ],
      expected: ["a starts", "b starts", "a grows", "a cannot grow", "a grows"],
    },
    {
      name: "is taken from an upload that is too slow, even while its client sends nothing (M8)",
      steps: [
        ...[
          enqueue("a", 100),
          tryStart("a"),
          ...receiveAfterWait("a", 0, 50, 60),
          { at: 50, startWait: "a" } as const,
        ],
        ...[
          enqueue("ab", 1, 105),
          { at: 105, tryStart: ["ab"] },
          { at: 106, receive: "a", bytes: 9 } as const,
        ],
      ],
      expected: ["a starts", "a continues", "ab starts", "a must stop"],
    },
    {
      name: "is taken from an upload that receives single bytes, but not from an upload with the required speed (M8)",
      steps: [
        ...[enqueue("a", 50), enqueue("b", 50), tryStart("a", "b")],
        ...[0, 40, 80, 120].flatMap((at) => [
          ...receiveAfterWait("a", at, at + 40, 1),
          ...receiveAfterWait("b", at, at + 40, 40),
        ]),
      ],
      expected: [
        "a starts",
        "b starts",
        ...["a continues", "b continues", "a continues", "b continues"],
        ...["a must stop", "b continues", "a must stop", "b continues"],
      ],
    },
    {
      name: "is not taken while the service works on received bytes (M8)",
      steps: [
        enqueue("a", 50),
        tryStart("a"),
        ...receiveAfterWait("a", 0, 1, 1),
        { at: 60, report: "a" },
        { at: 119, report: "a" },
      ],
      expected: ["a starts", "a continues", "a continues", "a continues"],
    },
    {
      name: "is granted to the next upload if a waiting upload no longer polls",
      steps: [
        enqueue("a", 60),
        enqueue("z", 100),
        tryStart("a", "z"),
        enqueue("gone", 50),
        enqueue("b", 40, 3),
        { at: 6, tryStart: ["b"] },
      ],
      expected: ["a starts", "z starts", "b starts"],
    },
    {
      name: "stays reserved while an upload reports progress",
      steps: [
        enqueue("a", 100),
        tryStart("a"),
        { at: 60, report: "a" },
        { at: 120, report: "a" },
        enqueue("ab", 1, 120),
        tryStart("ab"),
      ],
      expected: ["a starts", "a continues", "a continues", "ab waits"],
    },
    {
      name: "is taken from an upload that reports no progress for too long",
      steps: [
        enqueue("a", 100),
        tryStart("a"),
        enqueue("ab", 1, 61),
        { at: 61, tryStart: ["ab"] },
        { at: 62, report: "a" },
      ],
      expected: ["a starts", "ab starts", "a must stop"],
    },
    {
      name: "is taken after the maximum duration of an upload, even if it makes progress",
      steps: [
        enqueue("a", 9),
        tryStart("a"),
        ...[50, 100, 150, 200, 201].map((at): Step => ({ at, report: "a" })),
      ],
      expected: [
        "a starts",
        "a continues",
        "a continues",
        "a continues",
        "a continues",
        "a must stop",
      ],
    },
    {
      name: "is free again after all uploads have ended, also if one is released twice",
      steps: [
        enqueue("a", 100),
        tryStart("a"),
        { at: 0, release: "a" },
        { at: 0, release: "a" },
        enqueue("ab", 100),
        enqueue("ac", 1),
        tryStart("ab", "ac"),
      ],
      expected: ["a starts", "ab starts", "ac waits"],
    },
  ] satisfies { name: string; steps: Step[]; expected: string[] }[])(
    "$name",
    ({ steps, expected }) => {
      expect(runSteps(steps)).toEqual(expected);
    },
  );
});

describe("an upload's memory", () => {
  it("is less than the total for the largest manifest", () => {
    expect(memoryOf("manifest", MANIFEST_BYTES)).toBeLessThan(80_000_000);
  });

  it("is at most one tenant's half for all other kinds (M8)", () => {
    const kinds = ["zip", "gzip", "tar", "blob"] as const;
    expect(Math.max(...kinds.map((kind) => memoryOf(kind, null)))).toBeLessThanOrEqual(40_000_000);
  });

  const [MB, NAME_BYTES] = [1_000_000, 4_000_000];
  it.each([
    {
      name: "for a zip does not depend on its length",
      kind: "zip",
      declared: 1,
      expectedBytes: NAME_BYTES + 36 * MB,
    },
    {
      name: "for a gzipped tar does not depend on its length",
      kind: "gzip",
      declared: 1,
      expectedBytes: NAME_BYTES + 28 * MB,
    },
    {
      name: "for a small tar is at most twice its length",
      kind: "tar",
      declared: 3 * MB,
      expectedBytes: NAME_BYTES + 6 * MB,
    },
    {
      name: "for a large tar is that of a file, of running puts and of a pack",
      kind: "tar",
      declared: 90 * MB,
      expectedBytes: NAME_BYTES + 28 * MB,
    },
    {
      name: "for a tar of unknown length is that of a large tar",
      kind: "tar",
      declared: null,
      expectedBytes: NAME_BYTES + 28 * MB,
    },
    {
      name: "for a blob is its length",
      kind: "blob",
      declared: 2 * MB,
      expectedBytes: NAME_BYTES + 2 * MB,
    },
    {
      name: "for a blob of unknown length is that of the largest blob",
      kind: "blob",
      declared: null,
      expectedBytes: NAME_BYTES + 16 * MB,
    },
    {
      name: "for a manifest is several times its length",
      kind: "manifest",
      declared: 4 * MB,
      expectedBytes: NAME_BYTES + 24 * MB,
    },
    {
      name: "for an empty manifest is only that for names",
      kind: "manifest",
      declared: 0,
      expectedBytes: NAME_BYTES,
    },
  ] as const)("$name", ({ kind, declared, expectedBytes }) => {
    expect(memoryOf(kind, declared)).toBe(expectedBytes);
  });
});
