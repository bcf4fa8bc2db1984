import { describe, expect, it } from "vitest";
import { UsageError } from "../../../local/command-line";
import { parseSimulateArguments } from "./arguments";

const DEFAULTS = {
  type: "seeds",
  seeds: 1_000,
  from: 1,
  jobs: 2,
  silentMs: 120_000,
  least: null,
  progressFile: null,
  isRecorded: false,
};

describe("the arguments of npm run simulate", () => {
  it.each([
    { argv: ["--jobs", "2"], expected: DEFAULTS },
    {
      argv: ["--seeds", "7", "--from", "0", "--jobs", "3", "--least", "0", "--patience", "15"],
      expected: { ...DEFAULTS, seeds: 7, from: 0, jobs: 3, least: 0, silentMs: 15_000 },
    },
    {
      argv: ["--jobs", "2", "--progress", "kept.jsonl", "--record"],
      expected: { ...DEFAULTS, progressFile: "kept.jsonl", isRecorded: true },
    },
    { argv: ["--seed", "0"], expected: { type: "seed", seed: 0 } },
    {
      argv: ["--worker", '{"from":3,"to":5}'],
      expected: { type: "worker", range: { from: 3, to: 5 } },
    },
    { argv: ["--help", "--seeds", "10k"], expected: { type: "help" } },
  ])("$argv are parsed as $expected", ({ argv, expected }) => {
    expect(parseSimulateArguments(argv)).toEqual(expected);
  });

  it("choose a process for each core by default", () => {
    expect(parseSimulateArguments([])).toMatchObject({ jobs: expect.any(Number) });
  });

  it.each([
    { argv: ["--seeds", "10k"], message: '--seeds is a whole number from 1, not "10k".' },
    { argv: ["--seeds", "0"], message: '--seeds is a whole number from 1, not "0".' },
    { argv: ["--jobs", "x"], message: '--jobs is a whole number from 1, not "x".' },
    { argv: ["--seed", "x"], message: '--seed is a whole number, not "x".' },
    {
      argv: ["--seed", "5", "--seeds", "9"],
      message: "--seeds cannot be combined with --seed, which plays one seed.",
    },
    {
      argv: ["--seed", "5", "--record"],
      message: "--record cannot be combined with --seed, which plays one seed.",
    },
  ])("$argv are refused with a reason", ({ argv, message }) => {
    expect(() => parseSimulateArguments(argv)).toThrow(new UsageError(message));
  });

  it("are refused if an option is unknown", () => {
    expect(() => parseSimulateArguments(["--sedes", "5"])).toThrow("'--sedes'");
  });
});
