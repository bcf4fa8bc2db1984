import { Chance } from "../../../simulated/chance";
import { DRAWN, type KindName } from "../runs/kinds";
import { STRIKES, type Strike } from "./strikes";

/** Most sessions that one strike is aimed at. */
const MOST_TARGETS = 5;
/** Sessions' draws and strikes' have nothing to do with each other. */
const OF_STRIKES = 0x51de;

/** What the session of this number is; its own draws come from its seed. */
export function sessionDraw(seed: number, nth: number): { kind: KindName; seed: number } {
  const own = mixed(seed, nth);
  return { kind: new Chance(own).pick(DRAWN), seed: own };
}

/** What strikes as the fault of this number, and how many sessions, if it is aimed at any. `chance`: picks them. */
export function strikeDraw(
  seed: number,
  nth: number,
): { strike: Strike; targets: number; chance: Chance } {
  const chance = new Chance(mixed(seed ^ OF_STRIKES, nth));
  return { strike: chance.pick(STRIKES), targets: chance.int(1, MOST_TARGETS), chance };
}

/** So many of them, or all if they are fewer; each once. */
export function someOf<One>(all: readonly One[], count: number, chance: Chance): One[] {
  const left = [...all];
  const some: One[] = [];
  while (left.length > 0 && some.length < count)
    some.push(...left.splice(chance.int(0, left.length - 1), 1));
  return some;
}

/** Seeds that follow one another would begin with draws that do. */
const mixed = (seed: number, nth: number): number =>
  (Math.imul(seed, 0x9e3779b1) ^ Math.imul(nth + 1, 0x85ebca6b)) >>> 0;
