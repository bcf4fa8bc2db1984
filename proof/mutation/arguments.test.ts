import { describe, expect, it } from "vitest";
import { UsageError } from "../../local/command-line";
import { parseMutationScoreArguments } from "./arguments";
import { SUBJECTS } from "./subjects";

const DEFAULTS = {
  subject: SUBJECTS[0],
  file: "",
  sample: null,
  seed: 1,
  sessions: 150,
  least: 85,
  jobs: 2,
  all: false,
  isRecorded: false,
};

describe("the arguments of npm run mutation-score", () => {
  it.each([
    { argv: ["--jobs", "2"], expected: DEFAULTS },
    {
      argv: ["--jobs", "2", "--of", "checker", "--file", "vote.ts", "--all", "--record"],
      expected: {
        ...DEFAULTS,
        subject: SUBJECTS[1],
        sessions: 0,
        file: "vote.ts",
        all: true,
        isRecorded: true,
      },
    },
    {
      argv: ["--jobs", "2", "--sample", "9", "--seed", "5", "--sessions", "0", "--least", "0"],
      expected: { ...DEFAULTS, sample: 9, seed: 5, sessions: 0, least: 0 },
    },
    { argv: ["--help", "--of", "chequer"], expected: null },
  ])("$argv are parsed as $expected", ({ argv, expected }) => {
    expect(parseMutationScoreArguments(argv)).toEqual(expected);
  });

  it.each([
    { argv: ["--sample", "few"], message: '--sample is a whole number from 1, not "few".' },
    { argv: ["--jobs", "0"], message: '--jobs is a whole number from 1, not "0".' },
    { argv: ["--seed", "5"], message: "--seed goes with --sample, which it draws." },
    {
      argv: ["--of", "chequer"],
      message: 'No name matches "chequer". Names:\n  rules\n  checker',
    },
  ])("$argv are refused with a reason", ({ argv, message }) => {
    expect(() => parseMutationScoreArguments(argv)).toThrow(new UsageError(message));
  });

  it("are refused if an option is unknown", () => {
    expect(() => parseMutationScoreArguments(["--sedes", "5"])).toThrow("'--sedes'");
  });
});
