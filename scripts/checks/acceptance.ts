/**
 * The rows of `docs/proof/acceptance.md`, the list of bad inputs, and the tests that cover the
 * rows. A test covers row A3 if its name, or the name of an enclosing `describe`, starts with
 * `A3 `.
 */

const rowsOf = (section: string, ...numbers: number[]): string[] =>
  numbers.map((number) => `${section}${number}`);

/**
 * A and B: authentication and requests. C: configs. D: outgoing requests. E: files, archives and
 * model output. F: agents' behaviour. Some numbers are not used.
 */
export const ACCEPTANCE_ROWS: readonly string[] = [
  ...rowsOf("A", 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16),
  ...rowsOf("B", 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 18, 19, 20),
  ...rowsOf("C", 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12),
  ...rowsOf("D", 1, 2, 3, 4, 5, 6, 8, 9, 11, 12, 13, 15, 16, 18, 19, 20, 21),
  ...rowsOf("E", 9, 10, 11, 13, 14, 15, 16, 17),
  ...rowsOf("F", 1, 2, 3, 4, 5, 6, 8, 9, 11),
];

/** Rows that need no test, because the service does not have the feature, with the reason. */
export const EXCUSED_ROWS: Readonly<Record<string, string>> = {
  B20: "there are no webhooks",
};

/** Rows that need tests in these files. Each file tests another part of the row. */
export const REQUIRED_FILES: Readonly<Record<string, readonly string[]>> = {
  // The first file tests the responses, the second that they take the same time.
  A3: ["tests/api/keys/keys-access.workers.test.ts", "proof/timing/guessing.proof.test.ts"],
  // Concurrent requests; streams of revoked and of expired keys; the delay by the service's clock.
  A5: [
    "tests/api/keys/keys-access.workers.test.ts",
    "tests/durable-objects/tenant/tenant.workers.test.ts",
    "tests/e2e/revocation.process.test.ts",
  ],
  // Keys in a config are refused; planted keys never appear in an output.
  D11: ["tests/config/bad-inputs.test.ts", "tests/e2e/canaries.process.test.ts"],
  // The parts of a tool server's question that are shown, and that a session's followers receive
  // it.
  D18: [
    "tests/tools/mcp/input-required.test.ts",
    "tests/tools/mcp/protocol-versions.test.ts",
    "tests/durable-objects/session/tools/tool-servers.workers.test.ts",
  ],
  // Paths from agents, archives and manifests.
  E9: ["tests/workspace/paths.test.ts"],
  // Both kinds of archives, and a gzip file that expands to a large size.
  E11: ["tests/uploads/read-zip.test.ts", "tests/uploads/read-tar.test.ts"],
  // Files of contexts as downloads; hostile files of agents, also with `inline=1`.
  E14: ["tests/api/contexts/contexts.workers.test.ts", "tests/e2e/hostile-files.process.test.ts"],
  // The rule, and the files of agents in the runtime.
  E15: [
    "tests/coordination/decision/answer-snapshots.test.ts",
    "tests/durable-objects/session/files/agent-files.workers.test.ts",
  ],
};

/**
 * A passed test: its file, relative to the root, and its titles; the outermost title comes first.
 */
export type PassedTest = { file: string; titles: readonly string[] };

const TITLE_OF_ROW = /^([A-F]\d{1,2})(?: (.*))?$/s;

/**
 * The row that a test covers, and the input that the rest of its titles describes. `titles`: the
 * outermost title comes first. Returns `null` if the test covers no row.
 */
export function rowOf(titles: readonly string[]): { row: string; input: string } | null {
  for (const [index, title] of titles.entries()) {
    const [, row, input] = TITLE_OF_ROW.exec(title) ?? [];
    if (row) return { row, input: [input, ...titles.slice(index + 1)].filter(Boolean).join(" ") };
  }
  return null;
}

/**
 * Finds the problems of the list: rows without a passed test, rows without a passed test in a
 * required file, and excused rows with a passed test.
 */
export function acceptanceProblems(passed: readonly PassedTest[]): string[] {
  const files = new Map<string, string[]>();
  for (const { file, titles } of passed) {
    const row = rowOf(titles)?.row;
    if (row) files.set(row, [...(files.get(row) ?? []), file]);
  }
  return ACCEPTANCE_ROWS.flatMap((row) => {
    const testFiles = files.get(row);
    if (row in EXCUSED_ROWS)
      return testFiles ? [`row ${row} of the bad inputs is excused, and has a test`] : [];
    if (!testFiles) return [`row ${row} of the bad inputs has no test that passed`];
    const missing = (REQUIRED_FILES[row] ?? []).filter((file) => !testFiles.includes(file));
    return missing.map((file) => `row ${row} of the bad inputs has no test that passed in ${file}`);
  });
}
