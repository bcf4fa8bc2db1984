import { parseArgs } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { matching, runCommand, runPlain, UsageError, wholeNumber } from "../../local/command-line";

describe("a number after an option", () => {
  it.each([
    { text: "0", least: 0, number: 0 },
    { text: "10000", least: 1, number: 10_000 },
    { text: "007", least: 1, number: 7 },
    { text: undefined, least: 1, number: null },
  ])("is $number for $text", ({ text, least, number }) => {
    expect(wholeNumber("seeds", text, least)).toBe(number);
  });

  it.each(["10k", "x", "", " 5", "-1", "1.5", "1e3", "0x10", "NaN", "Infinity", "1234567890"])(
    "is refused as %j",
    (text) => {
      expect(() => wholeNumber("seeds", text)).toThrow(
        new UsageError(`--seeds is a whole number, not "${text}".`),
      );
    },
  );

  it("is refused below its minimum", () => {
    expect(() => wholeNumber("jobs", "0", 1)).toThrow(
      new UsageError('--jobs is a whole number from 1, not "0".'),
    );
  });
});

describe("a choice by name", () => {
  const NAMES = ["the clock jumps", "the clock jumps back", "a full disk"];
  const named = (text: string) => matching(NAMES, text, (name) => name);

  it.each([
    { text: "clock", chosen: ["the clock jumps", "the clock jumps back"] },
    { text: "the clock jumps", chosen: ["the clock jumps"] },
    { text: "", chosen: NAMES },
  ])('by "$text" is $chosen', ({ text, chosen }) => expect(named(text)).toEqual(chosen));

  it("is never empty: the error lists each name once", () => {
    const output =
      'No name matches "clocks". Names:\n  the clock jumps\n  the clock jumps back\n  a full disk';
    expect(() => named("clocks")).toThrow(new UsageError(output));
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
  const complaints = () => {
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
    const said = complaints();
    await runCommand(main);
    expect(said).toEqual(output);
    expect(process.exitCode).toBe(2);
  });

  it.each([
    { name: "runs without arguments", args: [], code: 7, done: 1, output: [] },
    {
      name: "prints its help with --help, and does not run",
      args: ["--help"],
      code: 0,
      done: 0,
      output: [],
    },
    {
      name: "refuses an option",
      args: ["--dry-run"],
      code: 2,
      done: 0,
      output: [expect.stringContaining("'--dry-run'")],
    },
    {
      name: "refuses a word",
      args: ["help"],
      code: 2,
      done: 0,
      output: [expect.stringContaining("'help'")],
    },
  ])("without options $name", async ({ args, code, done, output }) => {
    const said = complaints();
    const shown = vi.spyOn(console, "log").mockImplementation(() => {});
    const main = vi.fn(async () => 7);
    await runPlain("npm run it", main, args);
    expect([process.exitCode, main.mock.calls.length, said]).toEqual([code, done, output]);
    expect(shown.mock.calls).toEqual(args[0] === "--help" ? [["npm run it"]] : []);
  });

  it("reports all other errors", async () => {
    await expect(runCommand(async () => Promise.reject(new Error("a bug")))).rejects.toThrow(
      "a bug",
    );
  });
});
