/** A small wrong: the exact text it replaces in one file, and which invariant should see it. */
export type PlantedBug = {
  name: string;
  file: string;
  find: string;
  replace: string;
  invariant: string;
};
