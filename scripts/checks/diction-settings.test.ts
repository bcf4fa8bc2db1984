import { expect, it } from "vitest";
import { isSettings, settingsTextsOf, wideSettingsOf } from "./diction-settings";

it.each([
  ["wrangler.toml", true],
  [".dev.vars.example", true],
  ["sandbox/Dockerfile", true],
  ["migrations/0001_sessions.sql", true],
  ["configs/teams/demo.yaml", true],
  [".ci/run", true],
  ["package.json", false],
  ["src/worker.ts", false],
])("%s is a file with comments: %s", (path, expected) => {
  expect(isSettings(path)).toBe(expected);
});

it.each([
  [
    "comments on neighbouring lines",
    "a.toml",
    "# one\n# two\na = 1\n# three",
    ["one\ntwo", "three"],
  ],
  ["comments in SQL", "a.sql", "CREATE x (\n  -- one\n  a\n);", ["one"]],
  ["no switched-off lines", "a.toml", "# one\n# [[table]]\n# name = 1\n# KEY=1", ["one"]],
  ["code as one word", "a.toml", "# run `npm start` now", ["run code now"]],
  [
    "texts of GitHub's forms",
    ".github/a.yml",
    "name: Bug\nlabel: What?\ntype: x",
    ["Bug", "What?"],
  ],
])("settings have texts: %s", (_, path, text, expected) => {
  expect(settingsTextsOf(path, text).map((passage) => passage.text)).toEqual(expected);
});

it("lines of comments are wide beyond the limit, and values are not", () => {
  expect(wideSettingsOf("a.toml", "# 4567890\nlong = 12345\n# 45", 8)).toEqual([
    { path: "a.toml", line: 1, text: "# 4567890" },
  ]);
});
