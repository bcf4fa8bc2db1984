import { describe, expect, it } from "vitest";
import { ANTHROPIC } from "../../../simulated/providers/formats/anthropic";
import { GEMINI } from "../../../simulated/providers/formats/gemini";
import { OPENAI_RESPONSES } from "../../../simulated/providers/formats/openai-responses";
import type { PromptBlock } from "../../../simulated/providers/prompt-cache";

const MINUTE_MS = 60_000;
const CHARS = 4;

/** A block of this many tokens, whose text depends on its name. */
const block = (name: string, tokens: number, mark: PromptBlock["mark"] = null): PromptBlock => ({
  text: name.repeat(Math.ceil((tokens * CHARS) / name.length)).slice(0, tokens * CHARS),
  mark,
});
const marked = (name: string, tokens: number): PromptBlock => block(name, tokens, "explicit");

type Row = {
  name: string;
  model: string;
  earlier: readonly PromptBlock[];
  later: readonly PromptBlock[];
  /** Minutes between the two requests. */
  minutes?: number;
  expected: { readTokens: number; writtenTokens: number };
};

describe("the cache of the Messages API", () => {
  it.each<Row>([
    {
      name: "reads at a mark what an earlier request wrote there",
      model: "claude-sonnet-5-5",
      earlier: [marked("a", 2_000), block("b", 100)],
      later: [marked("a", 2_000), block("c", 100)],
      expected: { readTokens: 2_000, writtenTokens: 0 },
    },
    {
      name: "reads in the blocks before a mark, and writes the rest up to the mark",
      model: "claude-sonnet-5-5",
      earlier: [marked("a", 2_000), block("b", 100)],
      later: [block("a", 2_000), marked("c", 500), block("d", 100)],
      expected: { readTokens: 2_000, writtenTokens: 500 },
    },
    {
      name: "does not search more than 20 blocks",
      model: "claude-sonnet-5-5",
      earlier: [marked("a", 2_000)],
      later: [
        block("a", 2_000),
        ...Array.from({ length: 19 }, () => block("b", 10)),
        marked("c", 10),
      ],
      expected: { readTokens: 0, writtenTokens: 2_200 },
    },
    {
      name: "reads nothing without marks",
      model: "claude-sonnet-5-5",
      earlier: [marked("a", 2_000)],
      later: [block("a", 2_000)],
      expected: { readTokens: 0, writtenTokens: 0 },
    },
    {
      name: "stores no beginning below the minimum",
      model: "claude-haiku-4-5",
      earlier: [marked("a", 2_000)],
      later: [marked("a", 2_000)],
      expected: { readTokens: 0, writtenTokens: 0 },
    },
    {
      name: "forgets after five minutes without use",
      model: "claude-sonnet-5-5",
      earlier: [marked("a", 2_000)],
      later: [marked("a", 2_000)],
      minutes: 6,
      expected: { readTokens: 0, writtenTokens: 2_000 },
    },
  ])("$name", (row) => {
    expect(secondUse(ANTHROPIC.newPromptCache(row.model), row)).toEqual(row.expected);
  });
});

describe("the cache of OpenAI", () => {
  it.each<Row>([
    {
      name: "of earlier models reads the longest known beginning in steps of 128 tokens",
      model: "gpt-5.4",
      earlier: [block("a", 1_100), block("b", 500)],
      later: [block("a", 1_100), block("c", 500)],
      expected: { readTokens: 1_024, writtenTokens: 0 },
    },
    {
      name: "of earlier models reads nothing below 1,024 tokens",
      model: "gpt-5.4",
      earlier: [block("a", 1_000), block("b", 500)],
      later: [block("a", 1_000), block("c", 500)],
      expected: { readTokens: 0, writtenTokens: 0 },
    },
    {
      name: "since GPT-5.6 reads only at breakpoints of the later request",
      model: "gpt-5.6",
      earlier: [marked("a", 2_000), block("b", 100, "implicit")],
      later: [block("a", 2_000), marked("c", 500), block("d", 100, "implicit")],
      expected: { readTokens: 0, writtenTokens: 2_600 },
    },
    {
      name: "since GPT-5.6 reads where both requests have a breakpoint",
      model: "gpt-6.2-sol",
      earlier: [marked("a", 2_000), block("b", 100, "implicit")],
      later: [marked("a", 2_000), marked("c", 500), block("d", 100, "implicit")],
      expected: { readTokens: 2_000, writtenTokens: 600 },
    },
  ])("$name", (row) => {
    expect(secondUse(OPENAI_RESPONSES.newPromptCache(row.model), row)).toEqual(row.expected);
  });
});

describe("the cache of Gemini", () => {
  it.each<Row>([
    {
      name: "reads the longest known beginning",
      model: "gemini-3.8-flash",
      earlier: [block("a", 4_992), block("b", 500)],
      later: [block("a", 4_992), block("c", 500)],
      expected: { readTokens: 4_992, writtenTokens: 0 },
    },
    {
      name: "reads nothing below its minimum",
      model: "gemini-3.8-flash",
      earlier: [block("a", 3_000), block("b", 500)],
      later: [block("a", 3_000), block("c", 500)],
      expected: { readTokens: 0, writtenTokens: 0 },
    },
    {
      name: "has a lower minimum for earlier models",
      model: "gemini-2.5-flash",
      earlier: [block("a", 3_008), block("b", 500)],
      later: [block("a", 3_008), block("c", 500)],
      expected: { readTokens: 3_008, writtenTokens: 0 },
    },
  ])("$name", (row) => {
    expect(secondUse(GEMINI.newPromptCache(row.model), row)).toEqual(row.expected);
  });
});

function secondUse(
  cache: ReturnType<typeof ANTHROPIC.newPromptCache>,
  { earlier, later, minutes = 1 }: Row,
) {
  cache.use(earlier, 0);
  return cache.use(later, minutes * MINUTE_MS);
}
