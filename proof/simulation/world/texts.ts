import type { Chance } from "../../../simulated/chance";

const WORDS =
  "amber birch cedar delta ember fjord grove heath islet juniper knoll larch marsh north ochre pine quartz reed slate thorn".split(
    " ",
  );

/** A text of a few words from a small vocabulary, so that equal and similar answers occur. */
export function drawText(chance: Chance): string {
  return Array.from({ length: chance.int(1, 9) }, () => chance.pick(WORDS)).join(
    chance.is(0.1) ? " \n " : " ",
  );
}

/** A final text; a few exceed the maximum length. */
export const drawFinal = (chance: Chance): string =>
  chance.is(0.02) ? "long final words ".repeat(16_000) : drawText(chance);

/** A text that the rules reject. */
export function drawUnusable(chance: Chance): string {
  return chance.is(0.8) ? chance.pick(["", "   ", "\n\t "]) : "very long ".repeat(14_000);
}
