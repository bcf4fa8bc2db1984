import { ALLOWANCES } from "./checks/budget-allowances";
import { budgetProblems, sizesIn } from "./checks/budgets";
import { castProblems } from "./checks/casts";
import { report } from "./checks/report";
import { readSources } from "./checks/source";

/** `npm run check:budgets`: sizes of files and functions, and type assertions. */
const sources = await readSources(".");
for (const folder of ["src", "durable-objects", "cli"]) {
  const { median, max } = sizesIn(folder, sources);
  console.log(`${folder}: median ${median} lines a file, at most ${max}`);
}
report("budgets", sources.length, [
  ...budgetProblems(sources, ALLOWANCES),
  ...castProblems(sources),
]);
