import type { PlantedBug } from "./bug";
import { BUGS_OF_COMMAND_LINE } from "./of-command-line";
import { BUGS_OF_CONTEXTS } from "./of-contexts";
import { BUGS_OF_ENDINGS } from "./of-endings";
import { BUGS_OF_QUEUE } from "./of-queue";
import { BUGS_OF_RULES } from "./of-rules";
import { BUGS_OF_SERVICE } from "./of-service";
import { BUGS_OF_TEAMS } from "./of-teams";
import { BUGS_OF_TREE } from "./of-tree";

export type { PlantedBug };

/** The bugs that `npm run planted-bugs` plants, one at a time. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  ...BUGS_OF_ENDINGS,
  ...BUGS_OF_RULES,
  ...BUGS_OF_SERVICE,
  ...BUGS_OF_CONTEXTS,
  ...BUGS_OF_TREE,
  ...BUGS_OF_TEAMS,
  ...BUGS_OF_QUEUE,
  ...BUGS_OF_COMMAND_LINE,
];

/**
 * The text by which `--only` selects bugs: the invariant that should catch the bug, then its name.
 */
export const nameOf = ({ name, invariant }: PlantedBug): string => `${invariant} ${name}`;
