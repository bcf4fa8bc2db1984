import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapeJson, sanitize, toLine } from "../../../cli/terminal/sanitize";
import { cpuMs } from "../../fakes/cpu-time";

describe("sanitize", () => {
  it.each([
    { name: "keeps plain text", text: "Hello, world", clean: "Hello, world" },
    {
      name: "keeps line feeds, tabs and other scripts",
      text: "a\n\tb é 漢字 😀",
      clean: "a\n\tb é 漢字 😀",
    },
    { name: "removes colours", text: "\x1b[1;31mred\x1b[0m", clean: "red" },
    { name: "removes 24-bit colours with colons", text: "\x1b[38:2:1:2:3mx", clean: "x" },
    { name: "removes screen clearing and cursor moves", text: "a\x1b[2J\x1b[Hb", clean: "ab" },
    { name: "removes private modes", text: "\x1b[?1049hx\x1b[?25l", clean: "x" },
    {
      name: "removes links, keeps their text",
      text: "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\",
      clean: "click",
    },
    { name: "removes window titles that end with BEL", text: "\x1b]0;owned\x07ok", clean: "ok" },
    { name: "removes writes to the clipboard", text: "\x1b]52;c;ZXZpbA==\x07ok", clean: "ok" },
    { name: "removes device control strings", text: "\x1bPq#0;2;0;0;0\x1b\\ok", clean: "ok" },
    {
      name: "removes PM, APC and SOS strings",
      text: "\x1b^a\x1b\\b\x1b_c\x1b\\d\x1bXe\x1b\\f",
      clean: "bdf",
    },
    { name: "removes 8-bit (C1) controls", text: "\x9b31mred\x9d0;t\x9cok\x85", clean: "redok" },
    {
      name: "removes strings that 8-bit controls start and end, with their content",
      text: "a\x90q\x9cb\x98r\x9cc\x9es\x9cd\x9ft\x9ce",
      clean: "abcde",
    },
    {
      name: "removes character set switches, terminal reset and cursor save",
      text: "\x1b(0lqk\x1bcx\x1b7",
      clean: "lqkx",
    },
    {
      name: "removes carriage returns, so that no line is overwritten",
      text: "safe\revil\r\nnext",
      clean: "safeevil\nnext",
    },
    { name: "removes backspace, bell, NUL and DEL", text: "a\bb\x07c\0d\x7fe", clean: "abcde" },
    { name: "removes an incomplete sequence", text: "end\x1b[31", clean: "end" },
    { name: "removes a lone escape", text: "end\x1b", clean: "end" },
    {
      name: "ends an unterminated string at the line feed, so that the next line stays visible",
      text: "a\x1b]0;open\nb",
      clean: "a\nb",
    },
    {
      name: "does not join the text around a removed sequence into a new sequence",
      text: "\x1b\x1b[31m[31mx",
      clean: "[31mx",
    },
    {
      name: "removes a string that starts inside another string",
      text: "\x1b]\x1b]0;t\x07x",
      clean: "x",
    },
  ])("$name", ({ text, clean }) => {
    expect(sanitize(text)).toBe(clean);
  });

  it("leaves no control character in any text, and is idempotent", () => {
    const sequencePart = fc.constantFrom(
      "\x1b",
      "[",
      "]",
      "P",
      "\\",
      "\x07",
      "\x9b",
      "\x9d",
      "\x9c",
      "m",
      "0",
      ";",
      "\n",
      "\r",
      "a",
      "\x85",
      "(",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.array(sequencePart).map((parts) => parts.join("")),
        ),
        (text) => {
          const clean = sanitize(text);
          // biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not contain control characters
          expect(clean).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
          expect(sanitize(clean)).toBe(clean);
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it.each(["\x1b]".repeat(100_000), "\x1b[".repeat(100_000), `\x1b]${"0;".repeat(200_000)}`])(
    "takes linear time for 200,000 characters and more",
    (text) => {
      const startedMs = cpuMs();
      sanitize(text);
      expect(cpuMs() - startedMs).toBeLessThan(1_000);
    },
  );
});

describe("toLine", () => {
  it.each([
    { name: "joins lines", text: " a\n\n b\tc ", line: "a b c" },
    {
      name: "escapes marks that change the text direction (L16)",
      text: "a\u202eb\u2066c\u200fd",
      line: String.raw`a\u{202e}b\u{2066}c\u{200f}d`,
    },
    {
      name: "escapes zero-width characters, soft hyphens, tag characters and Hangul fillers (L16)",
      text: "a\u200bb\u00adc\ufeffd\u{e0041}e\u3164f\u200d",
      line: String.raw`a\u{200b}b\u{ad}c\u{feff}d\u{e0041}e\u{3164}f\u{200d}`,
    },
    { name: "keeps emoji (L16)", text: "👩🏽‍💻 🏳️‍🌈 ❤️‍🔥 1️⃣ ℹ️", line: "👩🏽‍💻 🏳️‍🌈 ❤️‍🔥 1️⃣ ℹ️" },
    {
      name: "keeps zero-width joiners and non-joiners in Persian and Hindi (L16)",
      text: "می\u200cخواهم क्\u200dष",
      line: "می\u200cخواهم क्\u200dष",
    },
    {
      name: "escapes a variation selector after a letter or a digit (L16)",
      text: "a\ufe0f 1\ufe0f",
      line: String.raw`a\u{fe0f} 1\u{fe0f}`,
    },
    { name: "removes control sequences at the end of a line", text: "a\x1b[8m\nb", line: "a b" },
    { name: "treats Unicode line separators as spaces", text: "a\u2028b\u2029c", line: "a b c" },
  ])("$name", ({ text, line }) => {
    expect(toLine(text)).toBe(line);
  });
});

it("escapeJson keeps the JSON value and outputs no control characters", () => {
  const value = { text: "\x1b[2J\x9b2J\x7f\u0085 é" };
  const json = escapeJson(JSON.stringify(value));
  expect(JSON.parse(json)).toEqual(value);
  expect(sanitize(json)).toBe(json);
});
