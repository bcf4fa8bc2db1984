import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { acceptanceProblems } from "./checks/acceptance";
import { countTests, failuresOf, TestReportSchema } from "./checks/test-report";

/** Ends a CI run: whether every test file ran, and the runner's own count as the last line. Reads the report at TEST_REPORT. */
const reportPath = process.env["TEST_REPORT"];
if (!reportPath) throw new Error("Set TEST_REPORT to the path of vitest's JSON report, for the test run and for this.");

const report = TestReportSchema.parse(JSON.parse(await readFile(reportPath, "utf8")));
const entries = await readdir("tests", { recursive: true });
const files = entries.filter((name) => name.endsWith(".test.ts")).map((name) => path.resolve("tests", name));
const { passed, failed, skipped, problems: gaps } = countTests(report, files);
const held = report.testResults.flatMap(({ name, assertionResults }) => {
  const file = path.relative(".", name).replaceAll(path.sep, "/");
  const passing = assertionResults.filter(({ status }) => status === "passed");
  return passing.map(({ ancestorTitles, title }) => ({ file, titles: [...ancestorTitles, title] }));
});
const problems = [...gaps, ...acceptanceProblems(held)];

for (const failure of failuresOf(report)) console.error(`${failure}\n`);
for (const problem of problems) console.error(problem);
console.log(`${report.testResults.length} of ${files.length} test files ran`);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
if (failed > 0 || problems.length > 0 || passed < files.length) process.exitCode = 1;
