import * as z from "zod";

/** The fields of vitest's JSON report that are read. */
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
type TestReport = z.infer<typeof TestReportSchema>;

/** Merges the reports of several runs. A file that ran twice counts twice. */
export const mergeReports = (reports: readonly TestReport[]): TestReport => ({
  testResults: reports.flatMap(({ testResults }) => testResults),
});

type TestCount = { passed: number; failed: number; skipped: number; problems: string[] };

/** A skipped test states its missing requirement in its name: `[needs ../shared/examples]`. */
const REASON = /\[needs [^\]]+\]/;

/**
 * Counts the tests of a run, and reports files that failed or ran no test, because a runner that
 * silently omits files still exits with 0. `files` are the absolute paths of all test files.
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

/** Most characters of a failure. The runner's output contains the complete text. */
const MAX_FAILURE_CHARS = 1_500;

/**
 * The failed tests with file, name and message. They are printed at the end of the log, because
 * often only the end of a log is stored.
 */
export function failuresOf(report: TestReport): string[] {
  return report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === "failed");
    const fileFailure =
      status === "failed" && failed.length === 0
        ? [`FAILED ${name}\n${(message ?? "").slice(0, MAX_FAILURE_CHARS)}`]
        : [];
    return [
      ...fileFailure,
      ...failed.map(
        ({ fullName, failureMessages }) =>
          `FAILED ${name}\n  ${fullName}\n${failureMessages.join("\n").slice(0, MAX_FAILURE_CHARS)}`,
      ),
    ];
  });
}

/** Whether a file ran no test and does not state a missing requirement for each skipped test. */
function ranNothing({ assertionResults }: TestReport["testResults"][number]): boolean {
  return assertionResults.every(
    ({ status, fullName }) => status !== "passed" && status !== "failed" && !REASON.test(fullName),
  );
}
