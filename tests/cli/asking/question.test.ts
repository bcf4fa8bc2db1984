import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { readQuestion } from "../../../cli/asking/question";
import { MAX_QUESTION_CHARS } from "../../../src/protocol/api";

const piped = (...parts: (string | Buffer)[]) => ({
  stdin: Readable.from(parts.map((part) => Buffer.from(part))),
});
const nothing = { stdin: Object.assign(Readable.from([]), { isTTY: true }) };

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
      name: "is the piped text for a dash",
      words: ["-"],
      io: piped("why?\r\n"),
      question: "why?",
    },
    {
      name: "is the words, then the piped text",
      words: ["sum up:", "-"],
      io: piped("a\nb\n"),
      question: "sum up:\n\na\nb",
    },
    {
      name: "keeps characters that arrive in parts",
      words: [],
      io: piped(Buffer.from("😀").subarray(0, 2), Buffer.from("😀").subarray(2)),
      question: "😀",
    },
  ])("$name", async ({ words, io, question }) => {
    expect(await readQuestion(words, io)).toBe(question);
  });

  it.each([
    { name: "nothing", words: [], io: nothing, says: "The question is empty." },
    { name: "an empty pipe", words: [], io: piped(), says: "The question is empty." },
    { name: "blanks", words: ["-"], io: piped(" \n"), says: "The question is blank." },
    {
      name: "bytes that are not text",
      words: ["-"],
      io: piped(Buffer.from([0x61, 0xff])),
      says: "not UTF-8",
    },
    {
      name: "text above the length limit",
      words: ["-"],
      io: piped("x".repeat(MAX_QUESTION_CHARS + 1)),
      says: "is over 200000 characters",
    },
  ])("is refused for $name", async ({ words, io, says }) => {
    await expect(readQuestion(words, io)).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining(says),
    });
  });

  it("is not read further than its length limit", async () => {
    let read = 0;
    const endless = Readable.from(
      (function* () {
        for (; ; read += 65_536) yield Buffer.alloc(65_536, "x");
      })(),
    );
    await expect(readQuestion(["-"], { stdin: endless })).rejects.toMatchObject({ exitCode: 1 });
    expect(read).toBeLessThan(2_000_000);
  });
});
