import { parseArgs } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { matching, runCommand, runPlain, UsageError, wholeNumber } from "../../local/command-line";

describe("the number given for an option", () => {
  it.each([
    { text: "0", minimum: 0, number: 0 },
    { text: "10000", minimum: 1, number: 10_000 },
    { text: "007", minimum: 1, number: 7 },
    { text: undefined, minimum: 1, number: null },
  ])("is $number for $text", ({ text, minimum, number }) => {
    expect(wholeNumber("seeds", text, minimum)).toBe(number);
  });

  it.each(["10k", "x", "", " 5", "-1", "1.5", "1e3", "0x10", "NaN", "Infinity", "1234567890"])(
    "is refused as %j",
    (text) => {
      expect(() => wholeNumber("seeds", text)).toThrow(
        new UsageError(`--seeds is a whole number, not "${text}".`),
      );
    },
  );

  it("is refused below the minimum", () => {
    expect(() => wholeNumber("jobs", "0", 1)).toThrow(
      new UsageError('--jobs is a whole number from 1, not "0".'),
    );
  });
});

describe("choosing by name", () => {
  const NAMES = ["the clock jumps", "the clock jumps back", "a full disk"];
  const choose = (text: string) => matching(NAMES, text, (name) => name);

  it.each([
    { text: "clock", chosen: ["the clock jumps", "the clock jumps back"] },
    { text: "the clock jumps", chosen: ["the clock jumps"] },
    { text: "", chosen: NAMES },
  ])('with "$text" returns $chosen', ({ text, chosen }) => expect(choose(text)).toEqual(chosen));

  it("fails if no name matches, and the error lists each name once", () => {
    const output =
      'No name matches "clocks". Names:\n  the clock jumps\n  the clock jumps back\n  a full disk';
    expect(() => choose("clocks")).toThrow(new UsageError(output));
    expect(() => matching([1, 2], "3", () => "same")).toThrow(
      new UsageError('No name matches "3". Names:\n  same'),
    );
  });
});

describe("a command", () => {
  afterEach(() => {
    vi.restoreAllMocks();
    process.exitCode = undefined;
  });
  const captureStderr = () => {
    const output: string[] = [];
    vi.spyOn(process.stderr, "write").mockImplementation((text) => output.push(String(text)) > 0);
    return output;
  };

  it("exits with its code", async () => {
    await runCommand(async () => 7);
    expect(process.exitCode).toBe(7);
  });

  it.each([
    {
      name: "an invalid value",
      main: async () => Promise.reject(new UsageError("No.")),
      output: ["No.\n"],
    },
    {
      name: "an unknown option",
      main: async () =>
        parseArgs({ args: ["--sedes"], options: { seeds: { type: "string" } } }).positionals.length,
      output: [expect.stringContaining("'--sedes'")],
    },
  ])("exits with 2 and an error for $name", async ({ main, output }) => {
    const printed = captureStderr();
    await runCommand(main);
    expect(printed).toEqual(output);
    expect(process.exitCode).toBe(2);
  });

  it.each([
    { name: "runs without arguments", args: [], code: 7, runs: 1, output: [] },
    {
      name: "prints its help with --help, and does not run",
      args: ["--help"],
      code: 0,
      runs: 0,
      output: [],
    },
    {
      name: "refuses an option",
      args: ["--dry-run"],
      code: 2,
      runs: 0,
      output: [expect.stringContaining("'--dry-run'")],
    },
    {
      name: "refuses a word",
      args: ["help"],
      code: 2,
      runs: 0,
      output: [expect.stringContaining("'help'")],
    },
  ])("that defines no options $name", async ({ args, code, runs, output }) => {
    const printed = captureStderr();
    const log = vi.spyOn(console, "log").mockImplementation(() => {});
    const main = vi.fn(async () => 7);
    await runPlain("npm run it", main, args);
    expect([process.exitCode, main.mock.calls.length, printed]).toEqual([code, runs, output]);
    expect(log.mock.calls).toEqual(args[0] === "--help" ? [["npm run it"]] : []);
  });

  it("throws all other errors", async () => {
    await expect(runCommand(async () => Promise.reject(new Error("a bug")))).rejects.toThrow(
      "a bug",
    );
  });
});
