import { Chance } from "../../../simulated/chance";
import { DRAWN, type KindName } from "../runs/kinds";
import { SOAK_FAULTS, type SoakFault } from "./soak-faults";

/** The most sessions that one fault affects. */
const MOST_TARGETS = 5;
/** Makes the draws of faults independent of the draws of sessions. */
const FAULT_SALT = 0x51de;

/** Draws the kind of the n-th session, and the seed of the draws within that session. */
export function sessionDraw(seed: number, nth: number): { kind: KindName; seed: number } {
  const sessionSeed = mixSeed(seed, nth);
  return { kind: new Chance(sessionSeed).pick(DRAWN), seed: sessionSeed };
}

/**
 * Draws the n-th fault. `targets`: the number of affected sessions, for a fault that affects single
 * sessions. `chance`: draws these sessions.
 */
export function faultDraw(
  seed: number,
  nth: number,
): { fault: SoakFault; targets: number; chance: Chance } {
  const chance = new Chance(mixSeed(seed ^ FAULT_SALT, nth));
  return { fault: chance.pick(SOAK_FAULTS), targets: chance.int(1, MOST_TARGETS), chance };
}

/** Draws `count` distinct items; all items if there are fewer. */
export function pickSome<One>(all: readonly One[], count: number, chance: Chance): One[] {
  const remaining = [...all];
  const picked: One[] = [];
  while (remaining.length > 0 && picked.length < count)
    picked.push(...remaining.splice(chance.int(0, remaining.length - 1), 1));
  return picked;
}

/** Mixes seed and number, because successive seeds would begin with correlated draws. */
const mixSeed = (seed: number, nth: number): number =>
  (Math.imul(seed, 0x9e3779b1) ^ Math.imul(nth + 1, 0x85ebca6b)) >>> 0;
