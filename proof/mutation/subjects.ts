/**
 * What may be changed, and what must notice. `besides`: files of its folder that are no part of it. `tests`: as patterns. `sessions`: simulated
 * sessions beside them, if nobody asks for another number.
 */
export type Subject = {
  name: "rules" | "checker";
  folder: string;
  besides: readonly string[];
  tests: readonly string[];
  sessions: number;
};

export const SUBJECTS: readonly Subject[] = [
  {
    name: "rules",
    folder: "src/coordination",
    besides: [],
    tests: [
      "tests/coordination/**/*.test.ts",
      "proof/golden/*.test.ts",
      "proof/simulation/found/*.test.ts",
    ],
    sessions: 150,
  },
  {
    name: "checker",
    folder: "checker",
    besides: ["lies.ts"], // by which its tests tell it what is not so
    tests: [
      "proof/simulation/checker*.test.ts",
      "proof/golden/*.test.ts",
      "proof/simulation/found/*.test.ts",
    ],
    sessions: 0,
  },
];
