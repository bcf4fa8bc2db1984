/**
 * The acceptance list of bad inputs by its rows, and which tests are of them: a test is of row A3 if its name, or that of a
 * `describe` around it, begins with `A3 `.
 */

const upTo = (section: string, ...numbers: number[]): string[] => numbers.map((number) => `${section}${number}`);

/** A and B: who asks, and how. C: configs. D: where requests go. F: what agents do. The list leaves some numbers out. */
export const ACCEPTANCE_ROWS: readonly string[] = [
  ...upTo("A", 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16),
  ...upTo("B", 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 18, 19, 20),
  ...upTo("C", 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12),
  ...upTo("D", 1, 2, 3, 4, 5, 6, 8, 9, 11, 12, 20, 21),
  ...upTo("F", 1, 2, 3, 4, 5, 6, 8, 9, 11),
];

/** Rows about parts that the service does not have, and what stands there instead. */
export const NOT_REACHED: Readonly<Record<string, string>> = {
  B20: "there are no webhooks",
  F8: "agents have no workspaces and no tools that read",
};

const NAME = /^([A-F]\d{1,2})(?: (.*))?$/s;

/** The row that a test is of, and what it gives in: from its titles, outermost first. null: it is of none. */
export function rowOf(titles: readonly string[]): { row: string; input: string } | null {
  for (const [at, title] of titles.entries()) {
    const [, row, input] = NAME.exec(title) ?? [];
    if (row) return { row, input: [input, ...titles.slice(at + 1)].filter(Boolean).join(" ") };
  }
  return null;
}

/** What is wrong with the list, given the titles of the tests that passed: rows without a test, and rows excused that have one. */
export function acceptanceProblems(passed: readonly (readonly string[])[]): string[] {
  const met = new Set(passed.map((titles) => rowOf(titles)?.row));
  return ACCEPTANCE_ROWS.flatMap((row) => {
    if (met.has(row)) return row in NOT_REACHED ? [`row ${row} of the bad inputs is excused, and has a test`] : [];
    return row in NOT_REACHED ? [] : [`row ${row} of the bad inputs has no test that passed`];
  });
}
