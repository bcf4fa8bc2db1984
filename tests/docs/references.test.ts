import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DOCUMENTS } from "./documents";

/** Documents and comments name files and decisions. Each of them must exist. */

const ROOMS = [
  ...["src", "durable-objects", "d1", "r2-layout", "migrations", "client", "cli", "configs"],
  ...["docs", "scripts", "tests", "proof", "checker", "simulated", "local", "sandbox"],
];
const NAMED = new RegExp(`(?<=[\`\\s(])((?:${ROOMS.join("|")})/[\\w./-]*[\\w/])`, "g");
const QUOTED = new RegExp(`\`((?:${ROOMS.join("|")})/[\\w./-]*[\\w/])\``, "g");

const DECISIONS = new Set(readdirSync("docs/decisions").map((file) => file.slice(0, 4)));
const unknownDecisions = (text: string): string[] =>
  [...text.matchAll(/\bdecision (\d{4})\b/g)]
    .map(([, number = ""]) => number)
    .filter((number) => !DECISIONS.has(number));

const missing = (text: string, names: RegExp): string[] =>
  [...text.matchAll(names)].map(([, name = ""]) => name).filter((name) => !existsSync(name));

/** Generated pages have paths of users. Rows of runs have names of campaigns, which can be old. */
const isOurWords = (file: string): boolean => !file.startsWith("docs/reference/");
const withoutRows = (file: string, text: string): string =>
  file === "docs/proof/runs.md" ? text.replaceAll(/^\| \d.*$/gm, "") : text;

describe.each(DOCUMENTS.filter(({ file }) => isOurWords(file)))("$file", ({ file, text }) => {
  it("names only files, folders and decisions that exist", () => {
    expect(missing(withoutRows(file, text), NAMED)).toEqual([]);
    expect(unknownDecisions(text)).toEqual([]);
  });
});

describe("comments", () => {
  /** A file of MassGen. */
  const OF_OTHERS = /^configs\/rate_limits\//;
  const COMMENT_LINE = /^\s*(?:\*|\/\/|\/\*|--|#)/;
  const sources = ROOMS.filter((room) => room !== "docs").flatMap((room) =>
    readdirSync(room, { recursive: true, encoding: "utf8" })
      .filter((file) => /\.(?:ts|mjs|sql)$/.test(file) && !file.includes("node_modules"))
      .map((file) => `${room}/${file}`),
  );
  const commentsIn = (file: string): string =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => COMMENT_LINE.test(line))
      .join("\n");

  it.each(ROOMS.filter((room) => room !== "docs"))(
    "of %s/ name only files, folders and decisions that exist",
    (room) => {
      const wrong = sources
        .filter((file) => file.startsWith(`${room}/`))
        .map((file) => ({ file, comments: commentsIn(file) }))
        .flatMap(({ file, comments }) =>
          [...missing(comments, QUOTED), ...unknownDecisions(comments)].map(
            (name) => `${file}: ${name}`,
          ),
        )
        .filter((each) => !OF_OTHERS.test(each.split(": ")[1] ?? ""));
      expect(wrong).toEqual([]);
    },
  );
});

it("the checks find a wrong name", () => {
  expect(missing("see `src/none.ts` and (docs/none.md)", NAMED)).toEqual([
    "src/none.ts",
    "docs/none.md",
  ]);
  expect(unknownDecisions("decision 0043 and decision 0001")).toEqual(["0043"]);
});
