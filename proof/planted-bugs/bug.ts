/**
 * A planted bug: the exact text that it replaces in one file, and the invariant that should catch
 * it.
 */
export type PlantedBug = {
  name: string;
  file: string;
  find: string;
  replace: string;
  invariant: string;
};
