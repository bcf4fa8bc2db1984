import { importCycleProblems } from "./checks/import-cycles";
import { globalFetchProblems } from "./checks/global-fetch";
import { importProblems } from "./checks/imports";
import { report } from "./checks/report";
import { readSources } from "./checks/source";

/**
 * `npm run check:imports`: checks that imports follow the layers without cycles. Closed modules,
 * types, vendor names and the runtime's `fetch` may be used only where the rules allow it.
 */
const sources = await readSources(".");
report("imports", sources.length, [
  ...importProblems(sources),
  ...importCycleProblems(sources),
  ...globalFetchProblems(sources),
]);
