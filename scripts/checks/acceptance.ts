/**
 * Rows of `docs/proof/acceptance.md`, the list of bad inputs, and the tests that cover them: a test
 * covers row A3 if its name, or that of an enclosing `describe`, starts with `A3 `.
 */

const upTo = (section: string, ...numbers: number[]): string[] =>
  numbers.map((number) => `${section}${number}`);

/**
 * A and B: authentication and requests. C: configs. D: outgoing requests. E: files, archives and
 * model output. F: agents' behaviour. Some numbers are not used.
 */
export const ACCEPTANCE_ROWS: readonly string[] = [
  ...upTo("A", 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16),
  ...upTo("B", 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 18, 19, 20),
  ...upTo("C", 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12),
  ...upTo("D", 1, 2, 3, 4, 5, 6, 8, 9, 11, 12, 13, 15, 16, 18, 19, 20, 21),
  ...upTo("E", 9, 10, 11, 13, 14, 15, 16, 17),
  ...upTo("F", 1, 2, 3, 4, 5, 6, 8, 9, 11),
];

/** Rows about features that the service does not have, with the reason. */
export const NOT_REACHED: Readonly<Record<string, string>> = {
  B20: "there are no webhooks",
};

/** Rows that need several kinds of tests: each of these files must contain one. */
export const SHOWN_IN: Readonly<Record<string, readonly string[]>> = {
  // The responses, and that they take the same time.
  A3: ["tests/api/keys/keys-access.workers.test.ts", "proof/timing/guessing.proof.test.ts"],
  // Concurrent requests, streams of both kinds of ended keys, and the delay in the service's own
  // time.
  A5: [
    "tests/api/keys/keys-access.workers.test.ts",
    "tests/durable-objects/tenant/tenant.workers.test.ts",
    "tests/e2e/revocation.process.test.ts",
  ],
  // Refused in a config, and planted keys that never appear.
  D11: ["tests/config/bad-inputs.test.ts", "tests/e2e/canaries.process.test.ts"],
  // What is shown of a question, and that a session's watchers see it.
  D18: [
    "tests/tools/mcp/input-required.test.ts",
    "tests/tools/mcp/protocol-versions.test.ts",
    "tests/durable-objects/session/tools/tool-servers.workers.test.ts",
  ],
  // Paths from agents, archives and manifests.
  E9: ["tests/workspace/paths.test.ts"],
  // Both kinds of archives, and a gzip that expands.
  E11: ["tests/uploads/read-zip.test.ts", "tests/uploads/read-tar.test.ts"],
  // The rule, and the files that remain in the runtime.
  E15: [
    "tests/coordination/decision/answer-snapshots.test.ts",
    "tests/durable-objects/session/files/agent-files.workers.test.ts",
  ],
};

/** A passed test: its file, relative to the root, and its titles, outermost first. */
export type PassedTest = { file: string; titles: readonly string[] };

const NAME = /^([A-F]\d{1,2})(?: (.*))?$/s;

/** The row of a test, and its input, from its titles, outermost first; `null` if it has no row. */
export function rowOf(titles: readonly string[]): { row: string; input: string } | null {
  for (const [at, title] of titles.entries()) {
    const [, row, input] = NAME.exec(title) ?? [];
    if (row) return { row, input: [input, ...titles.slice(at + 1)].filter(Boolean).join(" ") };
  }
  return null;
}

/**
 * Problems of the list, given the passed tests: rows without a test, rows that lack one in a
 * required file, and excused rows with one.
 */
export function acceptanceProblems(passed: readonly PassedTest[]): string[] {
  const files = new Map<string, string[]>();
  for (const { file, titles } of passed) {
    const row = rowOf(titles)?.row;
    if (row) files.set(row, [...(files.get(row) ?? []), file]);
  }
  return ACCEPTANCE_ROWS.flatMap((row) => {
    const shown = files.get(row);
    if (row in NOT_REACHED)
      return shown ? [`row ${row} of the bad inputs is excused, and has a test`] : [];
    if (!shown) return [`row ${row} of the bad inputs has no test that passed`];
    const missing = (SHOWN_IN[row] ?? []).filter((file) => !shown.includes(file));
    return missing.map((file) => `row ${row} of the bad inputs has no test that passed in ${file}`);
  });
}
