import { describe, expect, it } from "vitest";
import { DRAWN, type Kind, KINDS } from "../runs/kinds";
import { sessionDraw, pickSome, faultDraw } from "../soak/draw";
import { SOAK_FAULTS } from "../soak/soak-faults";
import { STORAGE_FAULTS } from "../storage-faults/list";
import { Chance } from "../../../simulated/chance";

const drawMany = <One>(count: number, draw: (nth: number) => One): One[] =>
  Array.from({ length: count }, (_, nth) => draw(nth));
const drawnKinds = (seed: number) => drawMany(500, (nth) => sessionDraw(seed, nth).kind);
const faultNames = (seed: number) => drawMany(500, (nth) => faultDraw(seed, nth).fault.name);

describe("draws from a seed", () => {
  it.each([
    { what: "sessions", drawAll: drawnKinds },
    { what: "faults", drawAll: faultNames },
  ])("of $what are equal for equal seeds and different for other seeds", ({ drawAll }) => {
    expect(drawAll(5)).toEqual(drawAll(5));
    expect(drawAll(5)).not.toEqual(drawAll(6));
    // Also not equal if shifted by one draw.
    expect(drawAll(5).slice(1)).not.toEqual(drawAll(6).slice(0, -1));
  });

  it("include sessions of every kind that may be drawn, each with its own seed", () => {
    expect(new Set(drawnKinds(5))).toEqual(new Set(DRAWN));
    const all: [string, Kind][] = Object.entries(KINDS);
    expect(DRAWN).toEqual(all.flatMap(([name, { isOnlyByName }]) => (isOnlyByName ? [] : [name])));
    expect(new Set(drawMany(500, (nth) => sessionDraw(5, nth).seed)).size).toBe(500);
  });

  it("include all faults, each for one to five sessions", () => {
    expect(new Set(faultNames(5))).toEqual(new Set(SOAK_FAULTS.map(({ name }) => name)));
    expect(new Set(drawMany(500, (nth) => faultDraw(5, nth).targets))).toEqual(
      new Set([1, 2, 3, 4, 5]),
    );
  });
});

describe("of the active sessions", () => {
  it.each([
    { name: "as many as requested", count: 3, found: 3 },
    { name: "all, if there are fewer", count: 9, found: 5 },
    { name: "none, if none is requested", count: 0, found: 0 },
  ])("$name are picked, each at most once", ({ count, found }) => {
    const picked = pickSome([1, 2, 3, 4, 5], count, new Chance(3));
    expect(new Set(picked).size).toBe(found);
    expect(picked).toHaveLength(found);
  });
});

describe("faults of a soak", () => {
  it("have unique names", () => {
    expect(new Set(SOAK_FAULTS.map(({ name }) => name)).size).toBe(SOAK_FAULTS.length);
  });

  it("need no new process: no fault kills the service or changes the clock", () => {
    const orders = SOAK_FAULTS.flatMap((fault) => (fault.does === "orders" ? [fault.orders] : []));
    expect(orders.length).toBeGreaterThan(20);
    expect(orders.filter(({ crash, skewMs, isFrozen }) => crash || skewMs || isFrozen)).toEqual([]);
    expect(orders.filter(({ alarmLateMs = 0 }) => alarmLateMs > 10_000)).toEqual([]);
  });

  it.each(["d1", "r2", "tenant", "object", "sql", "sync", "set_alarm"] as const)(
    "include %s",
    (seam) => {
      const faultCounts = SOAK_FAULTS.filter(
        (fault) =>
          fault.does === "orders" && fault.orders.failures?.some((one) => one.seam === seam),
      );
      expect(faultCounts).not.toEqual([]);
    },
  );

  it.each(["alarms", "resets", "vanishes", "cuts"] as const)(
    "include faults that need no orders: %s",
    (does) => {
      expect(SOAK_FAULTS.filter((fault) => fault.does === does)).toHaveLength(1);
    },
  );

  it("include every fault of R2, D1 and storage except those with a kill or a kind that is not drawn", () => {
    const left = STORAGE_FAULTS.filter(
      ({ row }) => row === "R2 and D1" || row === "Storage",
    ).filter(({ name }) => !SOAK_FAULTS.some((fault) => fault.name === name));
    expect(left.map(({ name }) => name)).toEqual([
      "R2 is unavailable while files are stored, and the service is killed",
      "R2 fails, loses a reply, then is slow, while stored files are checked",
    ]);
  });
});
