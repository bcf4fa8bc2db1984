import type { PlantedBug } from "./bug";
import { BUGS_OF_ENDINGS } from "./of-endings";
import { BUGS_OF_RULES } from "./of-rules";
import { BUGS_OF_SERVICE } from "./of-service";

export type { PlantedBug };

/** At least one for each invariant that the simulation checks; `npm run planted-bugs` plants them one at a time. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  ...BUGS_OF_ENDINGS,
  ...BUGS_OF_RULES,
  ...BUGS_OF_SERVICE,
];

/** The invariant that must catch a bug, then the bug's name: how `npm run planted-bugs -- --only` chooses it. */
export const nameOf = ({ name, invariant }: PlantedBug): string => `${invariant} ${name}`;
