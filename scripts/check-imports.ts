import { importCycleProblems } from "./checks/import-cycles";
import { globalFetchProblems } from "./checks/global-fetch";
import { importProblems } from "./checks/imports";
import { report } from "./checks/report";
import { readSources } from "./checks/source";

/**
 * `npm run check:imports`: imports follow the layers without cycles; closed modules, types, vendor
 * names and the runtime's `fetch` are used only where allowed.
 */
const sources = await readSources(".");
report("imports", sources.length, [
  ...importProblems(sources),
  ...importCycleProblems(sources),
  ...globalFetchProblems(sources),
]);
