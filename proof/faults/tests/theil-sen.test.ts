import { describe, expect, it } from "vitest";
import { theilSen } from "../soak/theil-sen";

/** Alternates, so that neighbours show no trend. */
const noise = (at: number): number => ((at * 7) % 11) / 11 - 0.5;

describe("a slope by Theil and Sen", () => {
  const line = (count: number, y: (x: number) => number) =>
    Array.from({ length: count }, (_, x) => ({ x, y: y(x) }));

  it.each([
    { name: "is that of a line", points: line(20, (x) => 2 * x + 5), each: 2, low: 2, high: 2 },
    { name: "is zero without growth", points: line(20, () => 5), each: 0, low: 0, high: 0 },
    {
      name: "is robust against outliers",
      points: line(21, (x) => (x % 7 === 3 ? 10_000 : 2 * x)),
      each: 2,
    },
    {
      name: "ignores pairs with equal x",
      points: [...line(5, (x) => x), { x: 0, y: 0 }],
      each: 1,
    },
    // With four points every order is likely, so the interval is the full range.
    {
      name: "has the full range as interval for few points",
      points: line(4, (x) => x * x),
      each: 3,
      low: 1,
      high: 5,
    },
  ])("$name", ({ points, name: _, ...wanted }) => {
    expect(theilSen(points)).toMatchObject(wanted);
  });

  it.each([
    { name: "two points", points: line(2, (x) => x) },
    { name: "points with equal x", points: line(9, (y) => y).map(({ y }) => ({ x: 1, y })) },
  ])("is unknown for $name", ({ points }) => {
    expect(theilSen(points)).toBeNull();
  });

  it("has an interval that contains the true slope and gets narrower", () => {
    const width = (count: number) => {
      const slope = theilSen(line(count, (x) => 0.5 * x + 20 * noise(x)));
      expect(slope?.low).toBeLessThan(0.5);
      expect(slope?.high).toBeGreaterThan(0.5);
      return (slope?.high ?? 0) - (slope?.low ?? 0);
    };
    expect(width(200)).toBeLessThan(width(30) / 5);
  });

  // From the tables of Kendall's S: for ten points, 21 more pairs in one direction than in the
  // other occur by chance in one of twenty cases.
  it("has Sen's symmetric interval", () => {
    const slopes = Array.from({ length: 10 }, (_, x) => ({ x, y: x + 3 * noise(x) }));
    const all = slopes.flatMap((one, at) =>
      slopes.slice(at + 1).map((two) => (two.y - one.y) / (two.x - one.x)),
    );
    all.sort((a, b) => a - b);
    expect(theilSen(slopes)).toMatchObject({ low: all[11], high: all[33] });
  });
});
