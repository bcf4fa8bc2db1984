import { Chance } from "../../../simulated/chance";
import { DRAWN, type KindName } from "../runs/kinds";
import { SOAK_FAULTS, type SoakFault } from "./soak-faults";

/** The most sessions that one fault strikes. */
const MOST_TARGETS = 5;
/** Makes the draws of faults independent of the draws of sessions. */
const OF_FAULTS = 0x51de;

/** Draws the kind of the n-th session, and the seed of its own draws. */
export function sessionDraw(seed: number, nth: number): { kind: KindName; seed: number } {
  const own = mixed(seed, nth);
  return { kind: new Chance(own).pick(DRAWN), seed: own };
}

/**
 * Draws the n-th fault and the number of sessions that it strikes, if it targets sessions. `chance`
 * picks them.
 */
export function faultDraw(
  seed: number,
  nth: number,
): { fault: SoakFault; targets: number; chance: Chance } {
  const chance = new Chance(mixed(seed ^ OF_FAULTS, nth));
  return { fault: chance.pick(SOAK_FAULTS), targets: chance.int(1, MOST_TARGETS), chance };
}

/** So many distinct items, or all if there are fewer. */
export function someOf<One>(all: readonly One[], count: number, chance: Chance): One[] {
  const left = [...all];
  const some: One[] = [];
  while (left.length > 0 && some.length < count)
    some.push(...left.splice(chance.int(0, left.length - 1), 1));
  return some;
}

/** Successive seeds would begin with correlated draws. */
const mixed = (seed: number, nth: number): number =>
  (Math.imul(seed, 0x9e3779b1) ^ Math.imul(nth + 1, 0x85ebca6b)) >>> 0;
