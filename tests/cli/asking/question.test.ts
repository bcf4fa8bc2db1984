import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { readQuestion } from "../../../cli/asking/question";
import { MAX_QUESTION_CHARS } from "../../../src/protocol/api";

const piped = (...parts: (string | Buffer)[]) => ({
  stdin: Readable.from(parts.map((part) => Buffer.from(part))),
});
const NO_INPUT = { stdin: Object.assign(Readable.from([]), { isTTY: true }) };

describe("the question", () => {
  it.each([
    {
      name: "is the words of the command line",
      words: ["why", "is it?"],
      io: piped("not read"),
      question: "why is it?",
    },
    { name: "is the piped text", words: [], io: piped("why\n", "so?\n"), question: "why\nso?" },
    {
      name: "is the piped text if the only word is a dash",
      words: ["-"],
      io: piped("why?\r\n"),
      question: "why?",
    },
    {
      name: "is the words followed by the piped text if the last word is a dash",
      words: ["sum up:", "-"],
      io: piped("a\nb\n"),
      question: "sum up:\n\na\nb",
    },
    {
      name: "may contain a character whose bytes arrive in two parts",
      words: [],
      io: piped(Buffer.from("😀").subarray(0, 2), Buffer.from("😀").subarray(2)),
      question: "😀",
    },
  ])("$name", async ({ words, io, question }) => {
    expect(await readQuestion(words, io)).toBe(question);
  });

  it.each([
    { name: "missing", words: [], io: NO_INPUT, expected: "The question is empty." },
    { name: "an empty pipe", words: [], io: piped(), expected: "The question is empty." },
    {
      name: "only white space",
      words: ["-"],
      io: piped(" \n"),
      expected: "The question is blank.",
    },
    {
      name: "no UTF-8 text",
      words: ["-"],
      io: piped(Buffer.from([0x61, 0xff])),
      expected: "not UTF-8",
    },
    {
      name: "longer than the limit",
      words: ["-"],
      io: piped("x".repeat(MAX_QUESTION_CHARS + 1)),
      expected: "is over 200000 characters",
    },
  ])("is refused if it is $name", async ({ words, io, expected }) => {
    await expect(readQuestion(words, io)).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining(expected),
    });
  });

  it("is not read much further than its length limit", async () => {
    let readBytes = 0;
    const endless = Readable.from(
      (function* () {
        for (; ; readBytes += 65_536) yield Buffer.alloc(65_536, "x");
      })(),
    );
    await expect(readQuestion(["-"], { stdin: endless })).rejects.toMatchObject({ exitCode: 1 });
    expect(readBytes).toBeLessThan(2_000_000);
  });
});
