import { describe, expect, it } from "vitest";
import { DRAWN, type Kind, KINDS } from "../runs/kinds";
import { sessionDraw, someOf, strikeDraw } from "../soak/draw";
import { STRIKES } from "../soak/strikes";
import { TROUBLES } from "../troubles/list";
import { Chance } from "../../../simulated/chance";

const first = <One>(count: number, draw: (nth: number) => One): One[] =>
  Array.from({ length: count }, (_, nth) => draw(nth));
const kinds = (seed: number) => first(500, (nth) => sessionDraw(seed, nth).kind);
const strikes = (seed: number) => first(500, (nth) => strikeDraw(seed, nth).strike.name);

describe("what is drawn from a seed", () => {
  it.each([
    { what: "sessions", of: kinds },
    { what: "faults", of: strikes },
  ])("are $what: the same of the same, others of another", ({ of }) => {
    expect(of(5)).toEqual(of(5));
    expect(of(5)).not.toEqual(of(6));
    expect(of(5).slice(1)).not.toEqual(of(6).slice(0, -1)); // nor the same, one later
  });

  it("are sessions of every kind that is not played by name only, each with chances of its own", () => {
    expect(new Set(kinds(5))).toEqual(new Set(DRAWN));
    const all: [string, Kind][] = Object.entries(KINDS);
    expect(DRAWN).toEqual(all.flatMap(([name, { isAskedFor }]) => (isAskedFor ? [] : [name])));
    expect(new Set(first(500, (nth) => sessionDraw(5, nth).seed)).size).toBe(500);
  });

  it("are all the faults, aimed at one to five sessions", () => {
    expect(new Set(strikes(5))).toEqual(new Set(STRIKES.map(({ name }) => name)));
    expect(new Set(first(500, (nth) => strikeDraw(5, nth).targets))).toEqual(
      new Set([1, 2, 3, 4, 5]),
    );
  });
});

describe("of those that are on", () => {
  it.each([
    { name: "as many as are asked for", count: 3, found: 3 },
    { name: "all, where they are fewer", count: 9, found: 5 },
    { name: "none, where none is asked for", count: 0, found: 0 },
  ])("$name are struck, each once", ({ count, found }) => {
    const some = someOf([1, 2, 3, 4, 5], count, new Chance(3));
    expect(new Set(some).size).toBe(found);
    expect(some).toHaveLength(found);
  });
});

describe("what strikes", () => {
  it("has a name of its own", () => {
    expect(new Set(STRIKES.map(({ name }) => name)).size).toBe(STRIKES.length);
  });

  it("is well again without a new process: nothing kills, and the clock is right", () => {
    const orders = STRIKES.flatMap((strike) => (strike.does === "orders" ? [strike.orders] : []));
    expect(orders.length).toBeGreaterThan(20);
    expect(orders.filter(({ crash, skewMs, isFrozen }) => crash || skewMs || isFrozen)).toEqual([]);
    expect(orders.filter(({ alarmLateMs = 0 }) => alarmLateMs > 10_000)).toEqual([]);
  });

  it.each(["d1", "r2", "tenant", "object", "sql", "sync", "set_alarm"] as const)(
    "is also %s",
    (seam) => {
      const struck = STRIKES.filter(
        (strike) =>
          strike.does === "orders" && strike.orders.failures?.some((one) => one.seam === seam),
      );
      expect(struck).not.toEqual([]);
    },
  );

  it.each(["rings", "resets", "vanishes", "cuts"] as const)(
    "does what no order can: it %s",
    (does) => {
      expect(STRIKES.filter((strike) => strike.does === does)).toHaveLength(1);
    },
  );

  it("is every trouble of R2, D1 and storage but those that take a kill, or a run that is not drawn", () => {
    const left = TROUBLES.filter(({ row }) => row === "R2 and D1" || row === "Storage").filter(
      ({ name }) => !STRIKES.some((strike) => strike.name === name),
    );
    expect(left.map(({ name }) => name)).toEqual([
      "R2 is away while files are brought there, and the service is killed",
      "R2 fails, loses its word, then is slow, while it is asked what is there",
    ]);
  });
});
