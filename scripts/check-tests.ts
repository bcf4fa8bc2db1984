import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { acceptanceProblems } from "./checks/acceptance";
import { countTests, failuresOf, mergeReports, TestReportSchema } from "./checks/test-report";

/**
 * The last step of a CI run. Reads all JSON reports of vitest in the folder TEST_REPORTS, checks
 * that every test file ran, and prints the numbers of tests as the last line.
 */
const folder = process.env["TEST_REPORTS"];
if (!folder)
  throw new Error(
    "Set TEST_REPORTS to the folder of vitest's JSON reports, for the test runs and for this.",
  );

const reports = (await readdir(folder))
  .filter((name) => name.endsWith(".json"))
  .map((name) => path.join(folder, name));
const readReport = async (file: string) =>
  TestReportSchema.parse(JSON.parse(await readFile(file, "utf8")));
const report = mergeReports(await Promise.all(reports.map(readReport)));
const testsIn = async (folder: string) =>
  (await readdir(folder, { recursive: true }))
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => path.resolve(folder, name));
const files = (await Promise.all(["tests", "scripts", "proof"].map(testsIn))).flat();
const { passed, failed, skipped, problems: countProblems } = countTests(report, files);
const passedTests = report.testResults.flatMap(({ name, assertionResults }) => {
  const file = path.relative(".", name).replaceAll(path.sep, "/");
  const passing = assertionResults.filter(({ status }) => status === "passed");
  return passing.map(({ ancestorTitles, title }) => ({ file, titles: [...ancestorTitles, title] }));
});
const problems = [...countProblems, ...acceptanceProblems(passedTests)];

for (const failure of failuresOf(report)) console.error(`${failure}\n`);
for (const problem of problems) console.error(problem);
console.log(
  `${new Set(report.testResults.map(({ name }) => name)).size} of ${files.length} test files ran`,
);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
if (failed > 0 || problems.length > 0 || passed < files.length) process.exitCode = 1;
