import { Chance } from "../../simulated/chance";

/**
 * A random generator for one purpose, which `parts` name. Its draws depend only on the seed and on
 * `parts`, not on the draws of other generators.
 */
export function chanceFor(seed: number, ...parts: readonly (string | number)[]): Chance {
  let hash = 0x811c9dc5; // FNV-1a
  for (const byte of new TextEncoder().encode([seed, ...parts].join("/")))
    hash = Math.imul(hash ^ byte, 0x01000193);
  return new Chance(hash);
}
