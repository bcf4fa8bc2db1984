import { Chance } from "../../simulated/chance";

/**
 * An independent source of chance for the purpose that `parts` name. Draws do not depend on the
 * order of other draws.
 */
export function chanceFor(seed: number, ...parts: readonly (string | number)[]): Chance {
  let hash = 0x811c9dc5; // FNV-1a
  for (const byte of new TextEncoder().encode([seed, ...parts].join("/")))
    hash = Math.imul(hash ^ byte, 0x01000193);
  return new Chance(hash);
}
