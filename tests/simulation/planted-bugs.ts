import type { PlantedBug } from "./planted-bugs/bug";
import { BUGS_OF_ENDINGS } from "./planted-bugs/of-endings";
import { BUGS_OF_RULES } from "./planted-bugs/of-rules";
import { BUGS_OF_SERVICE } from "./planted-bugs/of-service";

export type { PlantedBug };

/** At least one for each invariant that the simulation checks; `npm run planted-bugs` plants them one at a time. */
export const PLANTED_BUGS: readonly PlantedBug[] = [...BUGS_OF_ENDINGS, ...BUGS_OF_RULES, ...BUGS_OF_SERVICE];

/** The invariant that must catch a bug, then the bug's name: how `npm run planted-bugs -- --only` chooses it. */
export const nameOf = ({ name, invariant }: PlantedBug): string => `${invariant} ${name}`;
