import { Command } from "commander";
import { describe, expect, it } from "vitest";
import {
  type OverrideFlags,
  overrideOptions,
  toOverrides,
  withOverrides,
} from "../../../cli/commands/override-flags";
import type { RunRequest } from "../../../src/protocol/api";

/** The options of a command line. Throws what the program would print. */
function flagsOf(args: readonly string[]): OverrideFlags {
  const command = withOverrides(new Command().exitOverride());
  command.configureOutput({ writeErr: () => {} });
  return command.parse(args, { from: "user" }).opts<OverrideFlags>();
}

describe("the options that change the team for one turn", () => {
  it.each<{ args: readonly string[]; overrides: RunRequest["overrides"] }>([
    { args: [], overrides: undefined },
    { args: ["--agents", "a, b"], overrides: { agents: ["a", "b"] } },
    {
      args: ["--model-of", "a=gpt-5", "--model-of", "b=vendor/model=x"],
      overrides: { models: { a: "gpt-5", b: "vendor/model=x" } },
    },
    { args: ["--quick"], overrides: { quick: true } },
    { args: ["--max-answers", "2"], overrides: { max_new_answers_per_agent: 2 } },
    { args: ["--personas"], overrides: { personas: true } },
    { args: ["--no-personas"], overrides: { personas: false } },
    { args: ["--skip-coordination"], overrides: { skip_coordination: true } },
    {
      args: ["--agents", "a", "--no-skip-coordination"],
      overrides: { agents: ["a"], skip_coordination: false },
    },
  ])("$args are $overrides in the API, and are printed as options again", ({ args, overrides }) => {
    const flags = flagsOf(args);
    expect(toOverrides(flags)).toEqual(overrides ? { overrides } : {});
    expect(flagsOf(overrideOptions(flags))).toEqual(flags);
  });

  it.each([
    { args: ["--agents", "a,,b"], message: "Name agents by their ids" },
    { args: ["--model-of", "gpt-5"], message: "Name an agent and its model" },
    { args: ["--max-answers", "0"], message: "Give a number from 1 to 1000" },
  ])("$args are refused", ({ args, message }) => {
    expect(() => flagsOf(args)).toThrow(message);
  });

  it("refuse a quick turn with a number of answers", () => {
    expect(() => toOverrides(flagsOf(["--quick", "--max-answers", "2"]))).toThrow(
      "With --quick each agent answers once",
    );
  });
});
