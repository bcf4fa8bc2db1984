import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DOCUMENTS } from "./documents";

/** The files and decisions that documents and comments name must exist. */

const FOLDERS = [
  ...["src", "durable-objects", "d1", "r2-layout", "migrations", "client", "cli", "configs"],
  ...["docs", "scripts", "tests", "proof", "checker", "simulated", "local", "sandbox"],
];
const FILE_NAMES = new RegExp(`(?<=[\`\\s(])((?:${FOLDERS.join("|")})/[\\w./-]*[\\w/])`, "g");
const QUOTED_FILE_NAMES = new RegExp(`\`((?:${FOLDERS.join("|")})/[\\w./-]*[\\w/])\``, "g");

const DECISIONS = new Set(readdirSync("docs/decisions").map((file) => file.slice(0, 4)));
const unknownDecisions = (text: string): string[] =>
  [...text.matchAll(/\bdecision (\d{4})\b/g)]
    .map(([, number = ""]) => number)
    .filter((number) => !DECISIONS.has(number));

const missing = (text: string, names: RegExp): string[] =>
  [...text.matchAll(names)].map(([, name = ""]) => name).filter((name) => !existsSync(name));

/** The generated pages are not checked, because they have paths on users' machines. */
const isChecked = (file: string): boolean => !file.startsWith("docs/reference/");
/** The rows of runs are not checked, because they can have old names of campaigns. */
const withoutRunRows = (file: string, text: string): string =>
  file === "docs/proof/runs.md" ? text.replaceAll(/^\| \d.*$/gm, "") : text;

describe.each(DOCUMENTS.filter(({ file }) => isChecked(file)))("$file", ({ file, text }) => {
  it("names only files, folders and decisions that exist", () => {
    expect(missing(withoutRunRows(file, text), FILE_NAMES)).toEqual([]);
    expect(unknownDecisions(text)).toEqual([]);
  });
});

describe("comments", () => {
  /** Files of MassGen, which is another project. */
  const FILES_OF_MASSGEN = /^configs\/rate_limits\//;
  const COMMENT_LINE = /^\s*(?:\*|\/\/|\/\*|--|#)/;
  const sources = FOLDERS.filter((folder) => folder !== "docs").flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => /\.(?:ts|mjs|sql)$/.test(file) && !file.includes("node_modules"))
      .map((file) => `${folder}/${file}`),
  );
  const commentsIn = (file: string): string =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => COMMENT_LINE.test(line))
      .join("\n");

  it.each(FOLDERS.filter((folder) => folder !== "docs"))(
    "of %s/ name only files, folders and decisions that exist",
    (folder) => {
      const wrong = sources
        .filter((file) => file.startsWith(`${folder}/`))
        .map((file) => ({ file, comments: commentsIn(file) }))
        .flatMap(({ file, comments }) =>
          [...missing(comments, QUOTED_FILE_NAMES), ...unknownDecisions(comments)].map(
            (name) => `${file}: ${name}`,
          ),
        )
        .filter((fault) => !FILES_OF_MASSGEN.test(fault.split(": ")[1] ?? ""));
      expect(wrong).toEqual([]);
    },
  );
});

it("the checks find names that do not exist", () => {
  expect(missing("see `src/none.ts` and (docs/none.md)", FILE_NAMES)).toEqual([
    "src/none.ts",
    "docs/none.md",
  ]);
  expect(unknownDecisions("decision 0043 and decision 0001")).toEqual(["0043"]);
});
