/**
 * Code to mutate, and the tests that must notice. `tests`: glob patterns. `sessions`: default
 * number of simulated sessions.
 */
export type Subject = {
  name: "rules" | "checker";
  folder: string;
  tests: readonly string[];
  sessions: number;
};

export const SUBJECTS: readonly Subject[] = [
  {
    name: "rules",
    folder: "src/coordination",
    tests: [
      "tests/coordination/**/*.test.ts",
      "proof/golden/*.test.ts",
      "proof/simulation/regressions/*.test.ts",
    ],
    sessions: 150,
  },
  {
    name: "checker",
    folder: "checker",
    tests: [
      "proof/simulation/checker*.test.ts",
      "proof/golden/*.test.ts",
      "proof/simulation/regressions/*.test.ts",
    ],
    sessions: 0,
  },
];
