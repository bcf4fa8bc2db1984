import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ancestorsOf,
  formatPlace,
  joinPath,
  parentOf,
  parsePath,
  relativePath,
  visiblePath,
} from "../../src/workspace/paths";
import { FileError } from "../../src/workspace/types";

/** The result of `parse`, or the code of its error. */
function outcome(parse: () => string): string {
  try {
    return parse();
  } catch (error) {
    if (error instanceof FileError) return error.code;
    throw error;
  }
}

const parsed = (typed: string): string => outcome(() => formatPlace(parsePath(typed)));
const parsedRelative = (typed: string): string => outcome(() => relativePath(typed));
const levels = (count: number): string => Array.from({ length: count }, () => "a").join("/");

/**
 * `typed`: the path as an agent or an archive writes it. `result`: the parsed path, or an error
 * code.
 */
type Row = { name: string; typed: string; result: string };

describe("E9 a path typed by an agent", () => {
  it.each<Row>([
    { name: "is relative to the workspace", typed: "src/a.py", result: "/workspace/src/a.py" },
    { name: "may be absolute", typed: "/workspace/src/a.py", result: "/workspace/src/a.py" },
    { name: "may be empty and means the workspace", typed: "", result: "/workspace" },
    { name: "may be a dot and a slash", typed: "./", result: "/workspace" },
    { name: "may be the root", typed: "/", result: "/" },
    { name: "leads to a peer", typed: "/peers/agent1/a.py", result: "/peers/agent1/a.py" },
    {
      name: "leads to a peer from the workspace too",
      typed: "peers/agent1/a.py",
      result: "/peers/agent1/a.py",
    },
    {
      name: "leads to a peer below /workspace too",
      typed: "/workspace/peers/agent1/a.py",
      result: "/peers/agent1/a.py",
    },
    { name: "leads to all peers", typed: "peers", result: "/peers" },
    {
      name: "leads to a context",
      typed: "contexts/site/index.html",
      result: "/contexts/site/index.html",
    },
    {
      name: "may use a reserved name further down",
      typed: "src/peers/x",
      result: "/workspace/src/peers/x",
    },
    {
      name: "may use a reserved name in another case",
      typed: "Peers/x",
      result: "/workspace/Peers/x",
    },
    {
      name: "loses dots, doubled and final slashes",
      typed: ".//a/./b//",
      result: "/workspace/a/b",
    },
    { name: "resolves .. by its text", typed: "a/../b", result: "/workspace/b" },
    { name: "resolves .. before reserved names", typed: "peers/../x", result: "/workspace/x" },
    {
      name: "may go from one directory to another",
      typed: "../peers/agent1/x",
      result: "/peers/agent1/x",
    },
    {
      name: "may go from one context to another",
      typed: "/contexts/a/../b/x",
      result: "/contexts/b/x",
    },
    {
      name: "is literal: nothing is decoded",
      typed: "%2e%2e/x",
      result: "/workspace/%2e%2e/x",
    },
    { name: "keeps upper case", typed: "README.md", result: "/workspace/README.md" },
    { name: "keeps lower case", typed: "readme.md", result: "/workspace/readme.md" },
    {
      name: "may contain any script",
      typed: "文档/résumé 😀.txt",
      result: "/workspace/文档/résumé 😀.txt",
    },
    { name: "may start with a tilde", typed: "~notes", result: "/workspace/~notes" },
    {
      name: "may contain an emoji of several code points (L16)",
      typed: "👩🏽‍💻/🏳️‍🌈/❤️‍🔥.md",
      result: "/workspace/👩🏽‍💻/🏳️‍🌈/❤️‍🔥.md",
    },
    { name: "may contain an emoji of a digit (L16)", typed: "1️⃣.md", result: "/workspace/1️⃣.md" },
    { name: "may have 40 levels", typed: levels(40), result: `/workspace/${levels(40)}` },
    { name: "may begin with a dot", typed: ".env.example", result: "/workspace/.env.example" },
    {
      name: "may begin like Git's directory",
      typed: ".gitignore",
      result: "/workspace/.gitignore",
    },
    {
      name: "may begin like a device name",
      typed: "console.log",
      result: "/workspace/console.log",
    },
    {
      name: "may be an inherited property name",
      typed: "__proto__/constructor",
      result: "/workspace/__proto__/constructor",
    },
  ])("$name: $typed", ({ typed, result }) => {
    expect(parsed(typed)).toBe(result);
  });

  it.each<Row>([
    { name: "above the workspace", typed: "../../x", result: "path_outside" },
    { name: "above the workspace through a directory", typed: "a/../../b", result: "path_outside" },
    { name: "above the root", typed: "/../..", result: "path_outside" },
    { name: "of the host", typed: "/etc/passwd", result: "path_outside" },
    { name: "of a network", typed: "//server/share/x", result: "path_outside" },
    { name: "of another agent's workspace", typed: "/workspaces/agent2/x", result: "path_outside" },
    { name: "of the orchestrator", typed: "/orchestrator/state.json", result: "path_outside" },
    { name: "of a home directory", typed: "~/.ssh/id_rsa", result: "path_outside" },
    { name: "of a drive", typed: "C:/Windows", result: "path_outside" },
    { name: "with backslashes", typed: "..\\x", result: "path_invalid" },
    { name: "of a drive with backslashes", typed: "C:\\Windows", result: "path_invalid" },
    { name: "with a NUL", typed: "a\0.txt", result: "path_invalid" },
    { name: "with a line break", typed: "a\nb", result: "path_invalid" },
    { name: "with an escape sequence", typed: "\u001b[2Ja", result: "path_invalid" },
    { name: "with a line separator", typed: "a\u2028b", result: "path_invalid" },
    { name: "with reversed direction", typed: "exe.\u202etxt", result: "path_invalid" },
    { name: "with a zero-width space (L16)", typed: "a\u200bb.txt", result: "path_invalid" },
    { name: "with a soft hyphen (L16)", typed: "x\u00adsoft", result: "path_invalid" },
    { name: "with a byte order mark (L16)", typed: "\ufeffbom", result: "path_invalid" },
    { name: "with a tag character (L16)", typed: "\u{e0041}tag", result: "path_invalid" },
    { name: "with a Hangul filler (L16)", typed: "a\u3164b", result: "path_invalid" },
    { name: "with a word joiner (L16)", typed: "a\u2060b", result: "path_invalid" },
    { name: "with a grapheme joiner (L16)", typed: "a\u034fb", result: "path_invalid" },
    {
      name: "with a variation selector after a letter (L16)",
      typed: "a\ufe0f.txt",
      result: "path_invalid",
    },
    {
      name: "with an ideographic variation selector (L16)",
      typed: "a\u{e0100}",
      result: "path_invalid",
    },
    { name: "with a joiner between letters (L16)", typed: "a\u200db", result: "path_invalid" },
    { name: "with a joiner after an emoji (L16)", typed: "😀\u200d.txt", result: "path_invalid" },
    {
      name: "with a second selector after an emoji (L16)",
      typed: "❤\ufe0f\ufe0f.txt",
      result: "path_invalid",
    },
    {
      name: "with a tag character after an emoji (L16)",
      typed: "😀\u{e0061}",
      result: "path_invalid",
    },
    { name: "with half a surrogate pair", typed: "a\ud800", result: "path_invalid" },
    {
      name: "with half a surrogate pair in a path that is too long",
      typed: `\ud800${"a".repeat(9_000)}`,
      result: "path_too_long",
    },
    { name: "of Git's directory", typed: ".git/config", result: "path_invalid" },
    {
      name: "of Git's directory in upper case",
      typed: "sub/.GIT/hooks/pre-commit",
      result: "path_invalid",
    },
    {
      name: "of Git's directory under its short name",
      typed: "git~1/config",
      result: "path_invalid",
    },
    {
      name: "of Git's directory with an invisible character",
      typed: ".g\u200cit/config",
      result: "path_invalid",
    },
    {
      name: "of a stream of Git's directory",
      typed: ".git::$INDEX_ALLOCATION/config",
      result: "path_invalid",
    },
    { name: "of a stream of a file", typed: "secret.txt::$DATA", result: "path_invalid" },
    { name: "of a device", typed: "CON", result: "path_invalid" },
    { name: "of a device with an extension", typed: "src/aux.c", result: "path_invalid" },
    { name: "of a device with a space", typed: "lpt1 .txt", result: "path_invalid" },
    { name: "that ends in a dot", typed: "a./b", result: "path_invalid" },
    { name: "that ends in a space", typed: "a ", result: "path_invalid" },
    { name: "of three dots", typed: ".../x", result: "path_invalid" },
    { name: "with a name of 256 bytes", typed: "a".repeat(256), result: "path_too_long" },
    {
      name: "with a name of 300 bytes in 150 characters",
      typed: "é".repeat(150),
      result: "path_too_long",
    },
    { name: "of 41 levels", typed: levels(41), result: "path_too_long" },
    {
      name: "of 1,025 bytes",
      typed: [..."abcd"].map((c) => c.repeat(254)).join("/") + "/wxyz".repeat(2),
      result: "path_too_long",
    },
    { name: "of a peer with a device name", typed: "/peers/nul/x", result: "path_invalid" },
  ])("is refused $name: $typed", ({ typed, result }) => {
    expect(parsed(typed)).toBe(result);
  });

  it("is equal with composed and decomposed accents", () => {
    expect(parsed("re\u0301sume\u0301.txt")).toBe(parsed("r\u00e9sum\u00e9.txt"));
  });

  it("differs in another case and in percent-encoding", () => {
    expect(parsed("README.md")).not.toBe(parsed("readme.md"));
    expect(parsed("%2e%2e/x")).not.toBe(parsed("../x"));
  });

  it("has an absolute form that leads to the same place, for any input", () => {
    const piece = fc.constantFrom(
      "a",
      "B",
      "..",
      ".",
      "",
      "peers",
      "contexts",
      "workspace",
      "agent1",
      "e\u0301",
      "文",
      "%2e",
      "~",
      "x y",
    );
    fc.assert(
      fc.property(fc.boolean(), fc.array(piece, { maxLength: 8 }), (absolute, pieces) => {
        const resolved = parsed((absolute ? "/" : "") + pieces.join("/"));
        if (!resolved.startsWith("/")) return;
        expect(parsed(resolved)).toBe(resolved);
        expect(resolved).not.toMatch(/(^|\/)\.{1,2}(\/|$)/);
      }),
      { numRuns: 5_000 },
    );
  });

  it("never throws anything but a FileError, for any input", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (typed) => {
        expect(parsed(typed)).toMatch(/^(\/|path_(invalid|too_long|outside)$)/);
        expect(parsedRelative(typed)).toBeTypeOf("string");
      }),
      { numRuns: 5_000 },
    );
  });
});

describe("E9 a path inside a tree", () => {
  it.each<Row>([
    { name: "is kept", typed: "src/a.py", result: "src/a.py" },
    { name: "loses the prefix of archives", typed: "./src//a.py", result: "src/a.py" },
    {
      name: "may begin with a name that is reserved in the workspace",
      typed: "peers/x",
      result: "peers/x",
    },
    { name: "may not be absolute", typed: "/etc/passwd", result: "path_outside" },
    {
      name: "may not contain .., even if it remains inside",
      typed: "a/../b",
      result: "path_outside",
    },
    { name: "may not go up", typed: "../../x", result: "path_outside" },
    { name: "may not be empty", typed: "", result: "path_invalid" },
    { name: "may not be the root", typed: "./", result: "path_invalid" },
    { name: "may not contain backslashes", typed: "..\\x", result: "path_invalid" },
    { name: "may not be in Git's directory", typed: "sub/.git/config", result: "path_invalid" },
  ])("$name: $typed", ({ typed, result }) => {
    expect(parsedRelative(typed)).toBe(result);
  });
});

describe("parts of a path", () => {
  it("are its parent, its ancestors, and joined paths", () => {
    expect([parentOf("a/b/c"), parentOf("a"), parentOf("")]).toEqual(["a/b", "", ""]);
    expect(ancestorsOf("a/b/c")).toEqual(["a/b", "a"]);
    expect([joinPath("", "a"), joinPath("a", "b/c"), joinPath("a", "")]).toEqual([
      "a",
      "a/b/c",
      "a",
    ]);
  });
});

describe("a refusal", () => {
  it("shows the typed path with invisible characters escaped", () => {
    const message = outcome(() => {
      try {
        return formatPlace(parsePath("a\u001b[2J"));
      } catch (error) {
        return String(error);
      }
    });
    expect(message).toContain("a\\u{1b}[2J");
  });

  it("shows only the start of a long path", () => {
    expect(visiblePath("a".repeat(5_000)).length).toBeLessThan(210);
  });
});
