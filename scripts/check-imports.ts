import { circleProblems } from "./checks/circles";
import { globalFetchProblems } from "./checks/global-fetch";
import { importProblems } from "./checks/imports";
import { report } from "./checks/report";
import { readSources } from "./checks/source";

/**
 * `npm run check:imports`: imports point one way and in no circle; closed modules, types, vendor names and the runtime's `fetch` stay
 * where they belong.
 */
const sources = await readSources(".");
report("imports", sources.length, [
  ...importProblems(sources),
  ...circleProblems(sources),
  ...globalFetchProblems(sources),
]);
