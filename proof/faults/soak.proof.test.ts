import { beforeAll, describe, expect, it } from "vitest";
import { countOf } from "../counts";
import { playSoak } from "./soak/campaign";
import { type SoakFailure, type SoakFigures, shortcomings } from "./soak/figures";
import { toSoakReport } from "./soak/report";

/**
 * A soak of half a minute (robustness.md §3). It shows that the soak itself works. Slow growth
 * shows only after hours.
 */
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);
const SESSIONS = 4;

describe(`one service under load, with faults every few seconds (KILL_SEED=${SEED})`, () => {
  let figures: SoakFigures;
  const reported: SoakFailure[] = [];
  let sampleCount = 0;
  beforeAll(async () => {
    figures = await playSoak({
      ...{ seed: SEED, minutes: countOf("soak_minutes"), sessions: SESSIONS, faultEveryMs: 3_000 },
      onFailure: (failure) => reported.push(failure),
      onSample: () => {
        sampleCount += 1;
      },
    });
    console.log(toSoakReport(figures));
  }, 600_000);

  it("breaks no promise, in single sessions and in total", () => {
    expect(figures.failures).toEqual([]);
    expect(reported).toEqual([]);
    expect(shortcomings(figures)).toEqual([]);
    expect(figures.endedEarly).toBeNull();
  });

  it("completes sessions one after the other", () => {
    const ended = Object.values(figures.runs).reduce((sum, count) => sum + count, 0);
    expect(ended).toBeGreaterThan(SESSIONS); // So some sessions began after others had ended.
    expect(Object.keys(figures.runs).length).toBeGreaterThan(2);
  });

  it("meets several faults", () => {
    expect(figures.faultCounts.filter(({ met }) => met > 0).length).toBeGreaterThanOrEqual(2);
  });

  it("samples the heap and the disk", () => {
    expect(sampleCount).toBe(figures.samples.length);
    expect(sampleCount).toBeGreaterThanOrEqual(2);
    const [atFirst, atLast] = figures.atRest;
    for (const rest of [atFirst, atLast]) expect(rest?.live).toBeGreaterThan(1_000_000);
    expect(atLast?.minutes).toBeGreaterThan(atFirst?.minutes ?? 0);
    expect(figures.samples.some(({ live }) => live !== null && live > 1_000_000)).toBe(true);
    const [first, last] = [figures.samples[0], figures.samples.at(-1)];
    expect(last?.disk).toBeGreaterThan(first?.disk ?? 0);
    expect(last?.minutes).toBeGreaterThan(first?.minutes ?? 0);
  });
});

describe("a soak that is interrupted", () => {
  it("waits for the active sessions and returns the figures so far", async () => {
    const interrupted = new AbortController();
    const figures = await playSoak({
      ...{ seed: SEED, minutes: 60, sessions: 2, interrupted: interrupted.signal },
      onSample: () => setTimeout(() => interrupted.abort(), 3_000),
    });
    expect(figures).toMatchObject({ endedEarly: "interrupted", failures: [] });
    expect(figures.minutes).toBeLessThan(2);
    expect(
      Object.values(figures.runs).reduce((sum, count) => sum + count, 0),
    ).toBeGreaterThanOrEqual(2);
  }, 300_000);
});
