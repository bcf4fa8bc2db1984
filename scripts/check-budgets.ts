import { ALLOWANCES } from "./checks/budget-allowances";
import { budgetProblems } from "./checks/budgets";
import { castProblems } from "./checks/casts";
import { report } from "./checks/report";
import { readSources } from "./checks/source";

/** `npm run check:budgets`: sizes of files and functions, and type assertions. */
const sources = await readSources(".");
report("budgets", sources.length, [
  ...budgetProblems(sources, ALLOWANCES),
  ...castProblems(sources),
]);
