import type { Chance } from "../../../simulated/chance";

const WORDS =
  "amber birch cedar delta ember fjord grove heath islet juniper knoll larch marsh north ochre pine quartz reed slate thorn".split(
    " ",
  );

/**
 * Draws a text of a few words. The vocabulary is small, so that equal and similar answers occur.
 */
export function drawText(chance: Chance): string {
  return Array.from({ length: chance.int(1, 9) }, () => chance.pick(WORDS)).join(
    chance.is(0.1) ? " \n " : " ",
  );
}

/** Draws a final text. A few final texts exceed the maximum length. */
export const drawFinal = (chance: Chance): string =>
  chance.is(0.02) ? "long final words ".repeat(16_000) : drawText(chance);

/** Draws a text that the rules reject, because it is empty or too long. */
export function drawUnusable(chance: Chance): string {
  return chance.is(0.8) ? chance.pick(["", "   ", "\n\t "]) : "very long ".repeat(14_000);
}
