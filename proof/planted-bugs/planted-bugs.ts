import type { PlantedBug } from "./bug";
import { BUGS_OF_ENDINGS } from "./of-endings";
import { BUGS_OF_RULES } from "./of-rules";
import { BUGS_OF_SERVICE } from "./of-service";

export type { PlantedBug };

/**
 * At least one bug for each invariant of the simulation. `npm run planted-bugs` plants them one at
 * a time.
 */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  ...BUGS_OF_ENDINGS,
  ...BUGS_OF_RULES,
  ...BUGS_OF_SERVICE,
];

/**
 * The intended invariant, then the bug's name. `npm run planted-bugs -- --only` selects by this
 * text.
 */
export const nameOf = ({ name, invariant }: PlantedBug): string => `${invariant} ${name}`;
