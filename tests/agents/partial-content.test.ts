import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { partialContent } from "../../src/agents/partial-content";
import { cpuMs } from "../fakes/cpu-time";

describe("the content of unfinished arguments", () => {
  it.each([
    {
      name: "is the text that was received so far",
      raw: '{"content":"Hello, wor',
      expected: "Hello, wor",
    },
    {
      name: "is complete when the call is complete",
      raw: '{"content":"Hello"}',
      expected: "Hello",
    },
    { name: "may follow white space", raw: ' {\n  "content" :\t"Hi', expected: "Hi" },
    {
      name: "may follow other keys",
      raw: '{"reason":"a \\"quoted\\" one","n":-1.5e3,"ok":true,"content":"Hi',
      expected: "Hi",
    },
    {
      name: "may follow objects and lists",
      raw: '{"a":{"content":"no","b":["}",{"c":[]}]},"content":"Hi',
      expected: "Hi",
    },
    {
      name: "is not the value of another key",
      raw: '{"contents":"no","content_type":"no"',
      expected: "",
    },
    { name: "is not a nested value", raw: '{"a":{"content":"no"}', expected: "" },
    {
      name: "has its escapes decoded",
      raw: '{"content":"a\\n\\"b\\"\\t\\\\c\\/d\\u00e4',
      expected: 'a\n"b"\t\\c/dä',
    },
    { name: "omits a backslash whose escape is cut", raw: '{"content":"a\\', expected: "a" },
    { name: "keeps an escaped backslash at the end", raw: '{"content":"a\\\\', expected: "a\\" },
    { name: "omits a character code that is cut", raw: '{"content":"a\\u00e', expected: "a" },
    {
      name: "joins the two surrogates of a character",
      raw: '{"content":"\\ud83d\\ude00',
      expected: "\ud83d\ude00",
    },
    { name: "omits a high surrogate at the end", raw: '{"content":"a\\ud83d', expected: "a" },
    {
      name: "omits a high surrogate before a cut character code",
      raw: '{"content":"a\\ud83d\\ude0',
      expected: "a",
    },
    {
      name: "accepts line breaks that should have been escaped",
      raw: '{"content":"a\nb',
      expected: "a\nb",
    },
    { name: "ends at an invalid character code", raw: '{"content":"a\\uZZZZb"}', expected: "a" },
    { name: "may use an escape in its key", raw: '{"cont\\u0065nt":"Hi', expected: "Hi" },
    {
      name: "is the last of two values, as in JSON",
      raw: '{"content":"a","content":"b"}',
      expected: "b",
    },
    {
      name: "is the content of the first of two calls",
      raw: '{"content":"a"}{"content":"b"}',
      expected: "a",
    },
    { name: "is empty before its key is complete", raw: '{"content"', expected: "" },
    { name: "is empty before its value starts", raw: '{"content": ', expected: "" },
    { name: "is empty if its value is not a string", raw: '{"content":12', expected: "" },
    { name: "is empty without arguments", raw: "", expected: "" },
    { name: "is empty if the arguments are not an object", raw: '["content","a"]', expected: "" },
  ])("$name", ({ raw, expected }) => {
    expect(partialContent(raw)).toBe(expected);
  });

  const text = fc.string({ unit: "binary", maxLength: 60 });

  it("is a prefix of the complete content, at any place where the arguments are cut", () => {
    fc.assert(
      fc.property(
        fc.dictionary(text, fc.jsonValue()),
        text,
        fc.boolean(),
        fc.nat(),
        (others, content, escaped, cut) => {
          const { content: _other, ...rest } = others;
          const json = JSON.stringify({ ...rest, content }, null, cut % 3);
          const raw = escaped
            ? json.replace(
                /[\u0080-\uffff]/g,
                (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
              )
            : json;
          const part = partialContent(raw.slice(0, cut % (raw.length + 1)));
          expect(content.startsWith(part)).toBe(true);
          expect(partialContent(raw)).toBe(content);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("never throws, for any arguments", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'{}[]",:\\u0dcontet \n') }),
        (raw) => typeof partialContent(raw) === "string",
      ),
      {
        numRuns: 2_000,
      },
    );
  });

  it("is read in linear time", () => {
    const raw = `{"a":${"[".repeat(50_000)}${'"\\n"'.repeat(50_000)}${"]".repeat(50_000)},"content":"${"\\n".repeat(60_000)}`;
    const before = cpuMs();
    expect(partialContent(raw)).toHaveLength(60_000);
    expect(cpuMs() - before).toBeLessThan(500);
  });
});
