import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cpuMs } from "../fakes/cpu-time";
import { type PathReader, withPathsFor } from "../../src/protocol/workspace-paths";

const result = { sessionId: "session_1", turn: 2 };
const AT = "http://127.0.0.1:8787/api/sessions/session_1/turns/2/files";
const terminal = (...files: string[]): PathReader => ({
  for: "terminal",
  origin: "http://127.0.0.1:8787",
  result,
  files,
});
const prompt: PathReader = { for: "prompt", turn: 2 };
const inFolder = (folder: string): PathReader => ({ for: "export", folder });

type Row = { name: string; reader: PathReader; text: string; reads: string };

describe("a path of an answer", () => {
  it.each<Row>([
    {
      name: "is the file's address at the terminal",
      reader: terminal("site/index.html"),
      text: "See /workspace/site/index.html.",
      reads: `See ${AT}/site/index.html?inline=1.`,
    },
    {
      name: "is an address on the service's own origin on a page",
      reader: { for: "page", result, files: ["a.md"] },
      text: "[a](/workspace/a.md)",
      reads: "[a](/api/sessions/session_1/turns/2/files/a.md?inline=1)",
    },
    {
      name: "is an address of that answer if the files belong to an answer",
      reader: {
        for: "page",
        result: { ...result, label: "agent2.1", attempt: 1 },
        files: ["a.md"],
      },
      text: "/workspace/a.md",
      reads: "/api/sessions/session_1/turns/2/answers/agent2.1/files/a.md?attempt=1&inline=1",
    },
    {
      name: "loses the scheme that a model wrote before it",
      reader: terminal("a.md"),
      text: "[a](sandbox:/workspace/a.md) [b](file:///workspace/a.md)",
      reads: `[a](${AT}/a.md?inline=1) [b](${AT}/a.md?inline=1)`,
    },
    {
      name: "is no address if the result has no such file",
      reader: terminal("a.md"),
      text: "/workspace, /workspace/, /workspace/b.md, /workspace/a.mdx, /workspace/a.md.bak",
      reads: "/workspace, /workspace/, /workspace/b.md, /workspace/a.mdx, /workspace/a.md.bak",
    },
    {
      name: "is no address if it names a folder",
      reader: terminal("site/a.md", "site"),
      text: "/workspace/site/ and /workspace/site/b",
      reads: "/workspace/site/ and /workspace/site/b",
    },
    {
      name: "is the longest path that the result has",
      reader: terminal("a", "a b", "a b.md"),
      text: "`/workspace/a b.md` `/workspace/a c`",
      reads: `\`${AT}/a%20b.md?inline=1\` \`${AT}/a?inline=1 c\``,
    },
    {
      name: "is found in the encoded spelling of Markdown links",
      reader: terminal("über uns.md"),
      text: "[x](/workspace/%C3%BCber%20uns.md) /workspace/über uns.md",
      reads: `[x](${AT}/%C3%BCber%20uns.md?inline=1) ${AT}/%C3%BCber%20uns.md?inline=1`,
    },
    {
      name: "gives an address that text beside it cannot leave",
      reader: terminal(`a"><script>.md`, "a?b#c.md"),
      text: `/workspace/a"><script>.md /workspace/a?b#c.md`,
      reads: `${AT}/a%22%3E%3Cscript%3E.md?inline=1 ${AT}/a%3Fb%23c.md?inline=1`,
    },
    {
      name: "stays text inside of a longer path or an address",
      reader: terminal("a.md"),
      text: "https://x.org/workspace/a.md ~/workspace/a.md my/workspace/a.md",
      reads: "https://x.org/workspace/a.md ~/workspace/a.md my/workspace/a.md",
    },
    {
      name: "is relative in an export",
      reader: inFolder("turn-2"),
      text: "[a](sandbox:/workspace/site/a.md), all in /workspace and /workspace/site",
      reads: "[a](turn-2/site/a.md), all in turn-2 and turn-2/site",
    },
    {
      name: "is relative to the text's folder in an export without a folder",
      reader: inFolder("."),
      text: "/workspace/a.md",
      reads: "./a.md",
    },
    {
      name: "does not interpret the name of an export's folder as a pattern",
      reader: inFolder("a$&b"),
      text: "/workspace/a.md",
      reads: "a$&b/a.md",
    },
    {
      name: "is a path of the turn in the prompts of later turns",
      reader: prompt,
      text: "I wrote /workspace/site/a.md and `/workspace`; my/workspace/a.md is another path.",
      reads:
        "I wrote /turns/turn_2/site/a.md and `/turns/turn_2`; my/workspace/a.md is another path.",
    },
    {
      name: "names its context below the turn in the prompts of later turns",
      reader: prompt,
      text: "/workspace/contexts/site/a.md",
      reads: "/turns/turn_2/contexts/site/a.md",
    },
  ])("$name", ({ reader, text, reads }) => {
    expect(withPathsFor(reader, text)).toBe(reads);
  });

  it("names the longest file that the text spells, for any files and any text", () => {
    const name = fc.string({
      unit: fc.constantFrom("a", "b", ".", "/"),
      minLength: 1,
      maxLength: 5,
    });
    const words = fc.string({ unit: fc.constantFrom("a", "b", ".", "/", " "), maxLength: 8 });
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 12 }), words, (files, rest) => {
        const longest = files
          .filter((file) => rest.startsWith(file))
          .filter((file) => !/^(?:[\w/-]|\.\w)/.test(rest.slice(file.length)))
          .sort((a, b) => b.length - a.length)[0];
        const reads = withPathsFor(terminal(...files), `/workspace/${rest}`);
        if (longest === undefined) expect(reads).toBe(`/workspace/${rest}`);
        else expect(reads).toBe(`${AT}/${longest}?inline=1${rest.slice(longest.length)}`);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    { name: "many mentions", text: "/workspace/f ".repeat(100_000), links: 1_000 },
    { name: "many mentions of no file", text: "/workspace/faab ".repeat(80_000), links: 0 },
    {
      name: "long mentions that continue",
      text: `/workspace/f${"a".repeat(999)}b `.repeat(1_300),
      links: 0,
    },
  ])("keeps a hostile text within bounded work: $name", ({ text, links }) => {
    const files = Array.from({ length: 1_000 }, (_, length) => `f${"a".repeat(length)}`);
    const startedAt = cpuMs();
    const reads = withPathsFor(terminal(...files), text);
    expect(cpuMs() - startedAt).toBeLessThan(1_000);
    expect(reads.split("?inline=1").length - 1).toBe(links);
  });
});
