import { describe, expect, it } from "vitest";
import { UsageError } from "../../../local/command-line";
import { parseBenchArguments, writableFile } from "../arguments";
import { DESCRIPTIONS } from "../descriptions";

const NAMES = DESCRIPTIONS.map(({ name }) => name);
const DEFAULTS = {
  wanted: NAMES,
  seed: 7,
  trials: null,
  isSmall: false,
  isRecorded: false,
  json: "node_modules/.cache/massgen-edge/bench.json",
};

describe("the arguments of npm run bench", () => {
  it.each([
    { argv: [], expected: DEFAULTS },
    {
      argv: ["--only", "budget,bundle", "--only", "resume", "--trials", "100"],
      expected: { ...DEFAULTS, wanted: ["resume", "budget", "bundle"], trials: 100 },
    },
    {
      argv: ["--only", "bundle", "--small", "--json", "out.json"],
      expected: { ...DEFAULTS, wanted: ["bundle"], isSmall: true, json: "out.json" },
    },
    { argv: ["--record"], expected: { ...DEFAULTS, isRecorded: true } },
    { argv: ["--help", "--only", "beauty"], expected: null },
  ])("--seed 7 with $argv are parsed as $expected", ({ argv, expected }) => {
    expect(parseBenchArguments(["--seed", "7", ...argv])).toEqual(expected);
  });

  it("get a seed by default", () => {
    expect(parseBenchArguments([])).toEqual({ ...DEFAULTS, seed: expect.any(Number) });
  });

  it.each([
    {
      argv: ["--only", "resume,budget", "--trials", "0"],
      message: '--trials is a whole number from 1, not "0".',
    },
    { argv: ["--trials", "many"], message: '--trials is a whole number from 1, not "many".' },
    { argv: ["--seed", "lucky"], message: '--seed is a whole number, not "lucky".' },
    {
      argv: ["--only", "bundle", "--trials", "9"],
      message: "--trials goes with one of resume, budget.",
    },
    {
      argv: ["--small", "--record"],
      message: "--record does not go with --small, which measures no figure to keep.",
    },
    {
      argv: ["--only", "bundle,beauty"],
      message: `No name matches "beauty". Names:${NAMES.map((name) => `\n  ${name}`).join("")}`,
    },
  ])("$argv are refused with a reason", ({ argv, message }) => {
    expect(() => parseBenchArguments(argv)).toThrow(new UsageError(message));
  });

  it("are refused if an option is unknown", () => {
    expect(() => parseBenchArguments(["--sedes", "5"])).toThrow("'--sedes'");
  });

  it("are refused if the file cannot be written", async () => {
    const refused = writableFile("tests");
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow("--json tests cannot be written: EISDIR");
  });
});
