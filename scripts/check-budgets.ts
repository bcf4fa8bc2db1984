import { ALLOWANCES } from "./checks/budget-allowances";
import { budgetProblems, medianProblems, sizesIn } from "./checks/budgets";
import { castProblems } from "./checks/casts";
import { helpTextProblems } from "./checks/help-texts";
import { report } from "./checks/report";
import { readSources } from "./checks/source";

/**
 * `npm run check:budgets`: checks the sizes of files and functions, type assertions, and the widths
 * of help texts.
 */
const sources = await readSources(".");
const medians = ["src", "durable-objects", "cli"].flatMap((folder) => {
  const { median, max } = sizesIn(folder, sources);
  console.log(`${folder}: median ${median} lines a file, at most ${max}`);
  return medianProblems(folder, median);
});
report("budgets", sources.length, [
  ...medians,
  ...budgetProblems(sources, ALLOWANCES),
  ...castProblems(sources),
  ...helpTextProblems(sources),
]);
