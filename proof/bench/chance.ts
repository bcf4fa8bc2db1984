import { Chance } from "../../simulated/chance";

/**
 * A source of chance of its own for each thing that is drawn for, named by `parts`: what one draws does not hang on the order in
 * which others come.
 */
export function chanceFor(seed: number, ...parts: readonly (string | number)[]): Chance {
  let hash = 0x811c9dc5; // FNV-1a
  for (const byte of new TextEncoder().encode([seed, ...parts].join("/")))
    hash = Math.imul(hash ^ byte, 0x01000193);
  return new Chance(hash);
}
