/**
 * Code to mutate, and the tests that should notice the mutants. `folder`: the folder of the code.
 * `tests`: glob patterns of test files. `sessions`: the default number of simulated sessions.
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
