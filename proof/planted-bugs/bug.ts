import type { Habit } from "../simulation/engine/habits";

/**
 * A planted bug: in `file`, the text `find` is replaced by `replace`. `invariant`: the invariant
 * that the simulation should then report as violated. `habits`: those of the simulated sessions;
 * omitted if any session may reveal the bug. Other sessions are not simulated.
 */
export type PlantedBug = {
  name: string;
  file: string;
  find: string;
  replace: string;
  invariant: string;
  habits?: readonly Habit[];
};
