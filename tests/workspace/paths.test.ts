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

/** The result of a path: its target, or the code of the refusal. */
function outcome(read: () => string): string {
  try {
    return read();
  } catch (error) {
    if (error instanceof FileError) return error.code;
    throw error;
  }
}

const leads = (typed: string): string => outcome(() => formatPlace(parsePath(typed)));
const names = (typed: string): string => outcome(() => relativePath(typed));
const levels = (count: number): string => Array.from({ length: count }, () => "a").join("/");

type Row = { name: string; typed: string; leads: string };

describe("E9 a path typed by an agent", () => {
  it.each<Row>([
    { name: "is relative to the workspace", typed: "src/a.py", leads: "/workspace/src/a.py" },
    { name: "may be absolute", typed: "/workspace/src/a.py", leads: "/workspace/src/a.py" },
    { name: "may be empty and means the workspace", typed: "", leads: "/workspace" },
    { name: "may be a dot", typed: "./", leads: "/workspace" },
    { name: "may be the root", typed: "/", leads: "/" },
    { name: "leads to a peer", typed: "/peers/agent1/a.py", leads: "/peers/agent1/a.py" },
    {
      name: "leads to a peer from the workspace too",
      typed: "peers/agent1/a.py",
      leads: "/peers/agent1/a.py",
    },
    {
      name: "leads to a peer even below /workspace",
      typed: "/workspace/peers/agent1/a.py",
      leads: "/peers/agent1/a.py",
    },
    { name: "leads to all peers", typed: "peers", leads: "/peers" },
    {
      name: "leads to a context",
      typed: "contexts/site/index.html",
      leads: "/contexts/site/index.html",
    },
    {
      name: "may use a reserved name further down",
      typed: "src/peers/x",
      leads: "/workspace/src/peers/x",
    },
    {
      name: "may use a reserved name in other letters",
      typed: "Peers/x",
      leads: "/workspace/Peers/x",
    },
    { name: "loses dots, doubled and final slashes", typed: ".//a/./b//", leads: "/workspace/a/b" },
    { name: "resolves .. by its text", typed: "a/../b", leads: "/workspace/b" },
    { name: "resolves .. before reserved names", typed: "peers/../x", leads: "/workspace/x" },
    {
      name: "may go from one directory to another",
      typed: "../peers/agent1/x",
      leads: "/peers/agent1/x",
    },
    {
      name: "may go from one context to another",
      typed: "/contexts/a/../b/x",
      leads: "/contexts/b/x",
    },
    {
      name: "is literal: nothing is decoded",
      typed: "%2e%2e/x",
      leads: "/workspace/%2e%2e/x",
    },
    { name: "keeps the case", typed: "README.md", leads: "/workspace/README.md" },
    { name: "keeps the other case", typed: "readme.md", leads: "/workspace/readme.md" },
    {
      name: "may contain any script",
      typed: "文档/résumé 😀.txt",
      leads: "/workspace/文档/résumé 😀.txt",
    },
    { name: "may start with a tilde", typed: "~notes", leads: "/workspace/~notes" },
    {
      name: "may contain an emoji of several code points (L16)",
      typed: "👩🏽‍💻/🏳️‍🌈/❤️‍🔥.md",
      leads: "/workspace/👩🏽‍💻/🏳️‍🌈/❤️‍🔥.md",
    },
    { name: "may contain an emoji of a digit (L16)", typed: "1️⃣.md", leads: "/workspace/1️⃣.md" },
    { name: "may have 40 levels", typed: levels(40), leads: `/workspace/${levels(40)}` },
    { name: "may be hidden", typed: ".env.example", leads: "/workspace/.env.example" },
    { name: "may only look like git", typed: ".gitignore", leads: "/workspace/.gitignore" },
    { name: "may only look like a device", typed: "console.log", leads: "/workspace/console.log" },
    {
      name: "may be named after Object's own fields",
      typed: "__proto__/constructor",
      leads: "/workspace/__proto__/constructor",
    },
  ])("$name: $typed", ({ typed, leads: expected }) => {
    expect(leads(typed)).toBe(expected);
  });

  it.each<Row>([
    { name: "above the workspace", typed: "../../x", leads: "path_outside" },
    { name: "above the workspace on a detour", typed: "a/../../b", leads: "path_outside" },
    { name: "above the root", typed: "/../..", leads: "path_outside" },
    { name: "of the machine", typed: "/etc/passwd", leads: "path_outside" },
    { name: "of a network", typed: "//server/share/x", leads: "path_outside" },
    { name: "of another's workspace", typed: "/workspaces/agent2/x", leads: "path_outside" },
    { name: "of the orchestrator", typed: "/orchestrator/state.json", leads: "path_outside" },
    { name: "of a home directory", typed: "~/.ssh/id_rsa", leads: "path_outside" },
    { name: "of a drive", typed: "C:/Windows", leads: "path_outside" },
    { name: "with backslashes", typed: "..\\x", leads: "path_invalid" },
    { name: "of a drive with backslashes", typed: "C:\\Windows", leads: "path_invalid" },
    { name: "with a NUL", typed: "a\0.txt", leads: "path_invalid" },
    { name: "with a line break", typed: "a\nb", leads: "path_invalid" },
    { name: "with an escape sequence", typed: "\u001b[2Ja", leads: "path_invalid" },
    { name: "with a line separator", typed: "a\u2028b", leads: "path_invalid" },
    { name: "with reversed direction", typed: "exe.\u202etxt", leads: "path_invalid" },
    { name: "with a mark of width zero (L16)", typed: "a\u200bb.txt", leads: "path_invalid" },
    { name: "with a soft hyphen (L16)", typed: "x\u00adsoft", leads: "path_invalid" },
    { name: "with a byte order mark (L16)", typed: "\ufeffbom", leads: "path_invalid" },
    { name: "with a tag (L16)", typed: "\u{e0041}tag", leads: "path_invalid" },
    { name: "with a Hangul filler (L16)", typed: "a\u3164b", leads: "path_invalid" },
    { name: "with a word joiner (L16)", typed: "a\u2060b", leads: "path_invalid" },
    { name: "with a grapheme joiner (L16)", typed: "a\u034fb", leads: "path_invalid" },
    {
      name: "with a variation selector after a letter (L16)",
      typed: "a\ufe0f.txt",
      leads: "path_invalid",
    },
    { name: "with a selector of kanji (L16)", typed: "a\u{e0100}", leads: "path_invalid" },
    { name: "with a joiner between letters (L16)", typed: "a\u200db", leads: "path_invalid" },
    { name: "with a joiner after an emoji (L16)", typed: "😀\u200d.txt", leads: "path_invalid" },
    {
      name: "with a second selector after an emoji (L16)",
      typed: "❤\ufe0f\ufe0f.txt",
      leads: "path_invalid",
    },
    { name: "with a tag after an emoji (L16)", typed: "😀\u{e0061}", leads: "path_invalid" },
    { name: "with half a character", typed: "a\ud800", leads: "path_invalid" },
    {
      name: "with half a character among names too long",
      typed: `\ud800${"a".repeat(9_000)}`,
      leads: "path_too_long",
    },
    { name: "of git", typed: ".git/config", leads: "path_invalid" },
    { name: "of git in other letters", typed: "sub/.GIT/hooks/pre-commit", leads: "path_invalid" },
    { name: "of git under its short name", typed: "git~1/config", leads: "path_invalid" },
    { name: "of git behind an invisible mark", typed: ".g\u200cit/config", leads: "path_invalid" },
    { name: "of git's stream", typed: ".git::$INDEX_ALLOCATION/config", leads: "path_invalid" },
    { name: "of a stream of a file", typed: "secret.txt::$DATA", leads: "path_invalid" },
    { name: "of a device", typed: "CON", leads: "path_invalid" },
    { name: "of a device with an ending", typed: "src/aux.c", leads: "path_invalid" },
    { name: "of a device and a space", typed: "lpt1 .txt", leads: "path_invalid" },
    { name: "that ends in a dot", typed: "a./b", leads: "path_invalid" },
    { name: "that ends in a space", typed: "a ", leads: "path_invalid" },
    { name: "of three dots", typed: ".../x", leads: "path_invalid" },
    { name: "with a name of 256 bytes", typed: "a".repeat(256), leads: "path_too_long" },
    {
      name: "with a name of 300 bytes in 150 characters",
      typed: "é".repeat(150),
      leads: "path_too_long",
    },
    { name: "of 41 levels", typed: levels(41), leads: "path_too_long" },
    {
      name: "of 1,025 bytes",
      typed: [..."abcd"].map((c) => c.repeat(254)).join("/") + "/wxyz".repeat(2),
      leads: "path_too_long",
    },
    { name: "of a peer with a name of a device", typed: "/peers/nul/x", leads: "path_invalid" },
  ])("is refused $name: $typed", ({ typed, leads: code }) => {
    expect(leads(typed)).toBe(code);
  });

  it("is the same with composed and decomposed accents", () => {
    expect(leads("re\u0301sume\u0301.txt")).toBe(leads("r\u00e9sum\u00e9.txt"));
  });

  it("is never the same in another case", () => {
    expect(leads("README.md")).not.toBe(leads("readme.md"));
    expect(leads("%2e%2e/x")).not.toBe(leads("../x"));
  });

  it("is displayed so that it leads to the same place, for any input", () => {
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
        const resolved = leads((absolute ? "/" : "") + pieces.join("/"));
        if (!resolved.startsWith("/")) return;
        expect(leads(resolved)).toBe(resolved);
        expect(resolved).not.toMatch(/(^|\/)\.{1,2}(\/|$)/);
      }),
      { numRuns: 5_000 },
    );
  });

  it("never throws anything but a FileError, for any input", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (typed) => {
        expect(leads(typed)).toMatch(/^(\/|path_(invalid|too_long|outside)$)/);
        expect(names(typed)).toBeTypeOf("string");
      }),
      { numRuns: 5_000 },
    );
  });
});

describe("E9 a path inside a tree", () => {
  it.each<Row>([
    { name: "is kept", typed: "src/a.py", leads: "src/a.py" },
    { name: "loses the prefix of archives", typed: "./src//a.py", leads: "src/a.py" },
    { name: "may be below a name reserved in the workspace", typed: "peers/x", leads: "peers/x" },
    { name: "may not be absolute", typed: "/etc/passwd", leads: "path_outside" },
    { name: "may not go up, not even inside", typed: "a/../b", leads: "path_outside" },
    { name: "may not go up", typed: "../../x", leads: "path_outside" },
    { name: "may not be empty", typed: "", leads: "path_invalid" },
    { name: "may not be the root", typed: "./", leads: "path_invalid" },
    { name: "may not contain backslashes", typed: "..\\x", leads: "path_invalid" },
    { name: "may not be git's", typed: "sub/.git/config", leads: "path_invalid" },
  ])("$name: $typed", ({ typed, leads: expected }) => {
    expect(names(typed)).toBe(expected);
  });
});

describe("parts of a path", () => {
  it("lists the directory, and all above it", () => {
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

  it("shows the start of a too long path", () => {
    expect(visiblePath("a".repeat(5_000)).length).toBeLessThan(210);
  });
});
