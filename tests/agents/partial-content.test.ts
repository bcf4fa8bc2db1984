import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { partialContent } from "../../src/agents/partial-content";
import { cpuMs } from "../fakes/cpu-time";

describe("the content of unfinished arguments", () => {
  it.each([
    { name: "is what was written so far", raw: '{"content":"Hello, wor', want: "Hello, wor" },
    { name: "is whole when the call is", raw: '{"content":"Hello"}', want: "Hello" },
    { name: "may follow white space", raw: ' {\n  "content" :\t"Hi', want: "Hi" },
    {
      name: "may follow other keys",
      raw: '{"reason":"a \\"quoted\\" one","n":-1.5e3,"ok":true,"content":"Hi',
      want: "Hi",
    },
    {
      name: "may follow objects and lists",
      raw: '{"a":{"content":"no","b":["}",{"c":[]}]},"content":"Hi',
      want: "Hi",
    },
    {
      name: "is not the value of another key",
      raw: '{"contents":"no","content_type":"no"',
      want: "",
    },
    { name: "is not a nested value", raw: '{"a":{"content":"no"}', want: "" },
    {
      name: "has its escapes decoded",
      raw: '{"content":"a\\n\\"b\\"\\t\\\\c\\/d\\u00e4',
      want: 'a\n"b"\t\\c/dä',
    },
    { name: "leaves out a backslash whose escape is cut", raw: '{"content":"a\\', want: "a" },
    { name: "keeps an escaped backslash at the end", raw: '{"content":"a\\\\', want: "a\\" },
    { name: "leaves out a character code that is cut", raw: '{"content":"a\\u00e', want: "a" },
    {
      name: "joins both halves of a character",
      raw: '{"content":"\\ud83d\\ude00',
      want: "\ud83d\ude00",
    },
    { name: "leaves out half a character", raw: '{"content":"a\\ud83d', want: "a" },
    {
      name: "leaves out half a character before a cut code",
      raw: '{"content":"a\\ud83d\\ude0',
      want: "a",
    },
    {
      name: "accepts line breaks that should have been escaped",
      raw: '{"content":"a\nb',
      want: "a\nb",
    },
    { name: "ends at an invalid character code", raw: '{"content":"a\\uZZZZb"}', want: "a" },
    { name: "may use an escape in its key", raw: '{"cont\\u0065nt":"Hi', want: "Hi" },
    { name: "is the last of two, as in JSON", raw: '{"content":"a","content":"b"}', want: "b" },
    {
      name: "is the content of the first of two calls",
      raw: '{"content":"a"}{"content":"b"}',
      want: "a",
    },
    { name: "is empty before its key is complete", raw: '{"content"', want: "" },
    { name: "is empty before its value starts", raw: '{"content": ', want: "" },
    { name: "is empty if its value is not a string", raw: '{"content":12', want: "" },
    { name: "is empty without arguments", raw: "", want: "" },
    { name: "is empty if the arguments are not an object", raw: '["content","a"]', want: "" },
  ])("$name", ({ raw, want }) => {
    expect(partialContent(raw)).toBe(want);
  });

  const text = fc.string({ unit: "binary", maxLength: 60 });

  it("is a prefix of the content, wherever the arguments are cut", () => {
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
