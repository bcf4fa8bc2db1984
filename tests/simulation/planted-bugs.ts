import type { PlantedBug } from "./planted-bugs/bug";
import { BUGS_OF_RULES } from "./planted-bugs/of-rules";
import { BUGS_OF_SERVICE } from "./planted-bugs/of-service";

export type { PlantedBug };

/** At least one for each invariant that the simulation checks; `npm run planted-bugs` plants them one at a time. */
export const PLANTED_BUGS: readonly PlantedBug[] = [...BUGS_OF_RULES, ...BUGS_OF_SERVICE];
