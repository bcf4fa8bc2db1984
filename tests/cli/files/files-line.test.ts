import { describe, expect, it } from "vitest";
import { filesLines, formatBytes } from "../../../cli/files/show-files";
import { paint } from "../../../cli/terminal/output";
import { widthOf } from "../../../cli/terminal/text-width";

const COMMAND = "massgen-edge files last --save out";
const printed = (paths: readonly string[], width: number): string[] => {
  const data = paths.map((path) => ({ path, sha256: "", size: 1 }));
  const lines = filesLines({ data }, { command: COMMAND, width });
  return lines.map((line) => paint(line, { width: Number.POSITIVE_INFINITY, color: false }));
};

describe("the line with the files of a run", () => {
  it.each([
    { name: "is omitted without files", paths: [], width: 100, lines: [] },
    {
      name: "names all files and the command if the terminal is wide",
      paths: ["site/index.html", "a.md"],
      width: 100,
      lines: [`files   2: site/index.html, a.md · ${COMMAND}`],
    },
    {
      name: "names the first files that fit",
      paths: ["site/index.html", "site/style.css", "site/app.js"],
      width: 85,
      lines: [`files   3: site/index.html, site/style.css, … · ${COMMAND}`],
    },
    {
      name: "has the command on its own line if the terminal is narrow",
      paths: ["site/index.html", "site/style.css", "site/app.js"],
      width: 60,
      lines: ["files   3: site/index.html, site/style.css, site/app.js", `        ${COMMAND}`],
    },
    {
      name: "names at most five files",
      paths: ["a", "b", "c", "d", "e", "f"],
      width: 100,
      lines: [`files   6: a, b, c, d, e, … · ${COMMAND}`],
    },
    {
      name: "cuts a long name",
      paths: [`${"long".repeat(20)}.html`],
      width: 60,
      lines: [`files   1: ${"long".repeat(12)}…`, `        ${COMMAND}`],
    },
    {
      name: "contains no control sequences of file names",
      paths: ["a\x1b[2J\nb"],
      width: 100,
      lines: [`files   1: a b · ${COMMAND}`],
    },
  ])("$name", ({ paths, width, lines }) => {
    expect(printed(paths, width)).toEqual(lines);
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
  });
});

describe("a size", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1_000, "1.0 kB"],
    [12_345, "12 kB"],
    [16 * 1024 * 1024, "17 MB"],
    [5_000_000_000_000, "5000 GB"],
  ])("of %i bytes is %s", (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});
