import { expect, it } from "vitest";
import { overrideWords } from "../../../cli/display/override-words";

it.each([
  {
    overrides: { agents: ["b", "c"], models: { b: "gpt-5-mini" }, quick: true },
    words: "only b, c; b with gpt-5-mini; quick",
  },
  {
    overrides: { max_new_answers_per_agent: 2, personas: false, skip_coordination: true },
    words: "at most 2 answers each; without personas; without coordination",
  },
  {
    overrides: { max_new_answers_per_agent: 1, personas: true, skip_coordination: false },
    words: "at most 1 answer each; with personas; with coordination",
  },
  { overrides: { quick: false }, words: "" },
])("overrides are shown as “$words”", ({ overrides, words }) => {
  expect(overrideWords(overrides)).toBe(words);
});
