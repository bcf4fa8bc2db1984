/**
 * Code to mutate, and the tests that must notice. `excluded`: files of the folder that are not
 * mutated. `tests`: glob patterns. `sessions`: default number of simulated sessions.
 */
export type Subject = {
  name: "rules" | "checker";
  folder: string;
  excluded: readonly string[];
  tests: readonly string[];
  sessions: number;
};

export const SUBJECTS: readonly Subject[] = [
  {
    name: "rules",
    folder: "src/coordination",
    excluded: [],
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
    excluded: ["corruptions.ts"], // Builds the incorrect logs of its tests.
    tests: [
      "proof/simulation/checker*.test.ts",
      "proof/golden/*.test.ts",
      "proof/simulation/regressions/*.test.ts",
    ],
    sessions: 0,
  },
];
