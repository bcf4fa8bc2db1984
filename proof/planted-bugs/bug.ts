/**
 * A planted bug: in `file`, the text `find` is replaced by `replace`. `invariant`: the invariant
 * that the simulation should then report as violated.
 */
export type PlantedBug = {
  name: string;
  file: string;
  find: string;
  replace: string;
  invariant: string;
};
