import { z } from "zod";

/** The parts of vitest's JSON report that we count by. */
export const TestReportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().optional(),
      assertionResults: z.array(
        z.object({
          status: z.string(),
          fullName: z.string(),
          title: z.string(),
          ancestorTitles: z.array(z.string()),
          failureMessages: z.array(z.string()).default([]),
        }),
      ),
    }),
  ),
});
export type TestReport = z.infer<typeof TestReportSchema>;

/** Several runs of the runner as one report. A file that ran more than once counts each time. */
export const mergeReports = (reports: readonly TestReport[]): TestReport => ({
  testResults: reports.flatMap(({ testResults }) => testResults),
});

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
      ...files
        .filter((file) => !report.testResults.some(({ name }) => name === file))
        .map((file) => `${file} did not run`),
      ...report.testResults.filter(ranNothing).map(({ name }) => `${name} ran no test`),
      ...report.testResults
        .filter(({ status }) => status === "failed")
        .map(({ name }) => `${name} failed`),
      ...skipped
        .filter(({ fullName }) => !REASON.test(fullName))
        .map(({ fullName }) => `skipped without a reason: ${fullName}`),
    ],
  };
}

/** Of a test's failure, so many characters are shown: what is left out stands above, in the runner's own words. */
const SHOWN = 1_500;

/** What failed, for the end of a log of which often only the end is kept: each failed test by file and name, with its message. */
export function failuresOf(report: TestReport): string[] {
  return report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === "failed");
    const whole =
      status === "failed" && failed.length === 0
        ? [`FAILED ${name}\n${(message ?? "").slice(0, SHOWN)}`]
        : [];
    return [
      ...whole,
      ...failed.map(
        ({ fullName, failureMessages }) =>
          `FAILED ${name}\n  ${fullName}\n${failureMessages.join("\n").slice(0, SHOWN)}`,
      ),
    ];
  });
}

/** Skipping for a stated reason may empty a file; nothing else may. */
function ranNothing({ assertionResults }: TestReport["testResults"][number]): boolean {
  return assertionResults.every(
    ({ status, fullName }) => status !== "passed" && status !== "failed" && !REASON.test(fullName),
  );
}
