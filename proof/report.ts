import { readFile } from "node:fs/promises";
import { TestReportSchema } from "../scripts/checks/test-report";

/**
 * The numbers of passed and failed tests in vitest's JSON report; 0 if there is no report. A file
 * that could not be loaded counts as one failed test.
 */
export async function readCounts(file: string): Promise<{ passed: number; failed: number }> {
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return { passed: 0, failed: 0 };
  const report = TestReportSchema.parse(JSON.parse(text));
  const statuses = report.testResults.flatMap(({ assertionResults }) =>
    assertionResults.map(({ status }) => status),
  );
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) => status === "failed" && assertionResults.length === 0,
  );
  const count = (status: string) => statuses.filter((one) => one === status).length;
  return { passed: count("passed"), failed: count("failed") + brokenFiles.length };
}
