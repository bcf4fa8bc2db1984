import { z } from "zod";

/** The parts of vitest's JSON report that we count by. */
export const TestReportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(
        z.object({ status: z.string(), fullName: z.string(), title: z.string(), ancestorTitles: z.array(z.string()) }),
      ),
    }),
  ),
});
export type TestReport = z.infer<typeof TestReportSchema>;

export type TestCount = { passed: number; failed: number; skipped: number; problems: string[] };

/** A skipped test says in its name what it lacks: `[needs ../shared/examples]`. */
const REASON = /\[needs [^\]]+\]/;

/**
 * Counts a run, and says what is wrong with it beyond failed tests: a runner that silently leaves files out still exits with 0.
 * `files` are the test files on disk, as absolute paths like those of the report.
 */
export function countTests(report: TestReport, files: string[]): TestCount {
  const tests = report.testResults.flatMap((file) => file.assertionResults);
  const count = (status: string) => tests.filter((test) => test.status === status).length;
  const [passed, failed] = [count("passed"), count("failed")];
  const skipped = tests.filter((test) => test.status !== "passed" && test.status !== "failed");
  return {
    passed,
    failed,
    skipped: skipped.length,
    problems: [
      ...files.filter((file) => !report.testResults.some(({ name }) => name === file)).map((file) => `${file} did not run`),
      ...report.testResults.filter(ranNothing).map(({ name }) => `${name} ran no test`),
      ...report.testResults.filter(({ status }) => status === "failed").map(({ name }) => `${name} failed`),
      ...skipped.filter(({ fullName }) => !REASON.test(fullName)).map(({ fullName }) => `skipped without a reason: ${fullName}`),
    ],
  };
}

/** Skipping for a stated reason may empty a file; nothing else may. */
function ranNothing({ assertionResults }: TestReport["testResults"][number]): boolean {
  return assertionResults.every(({ status, fullName }) => status !== "passed" && status !== "failed" && !REASON.test(fullName));
}
