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
])("%s is read as a file with comments: %s", (path, expected) => {
  expect(isSettings(path)).toBe(expected);
});

it.each([
  [
    "comments on neighbouring lines are one passage",
    "a.toml",
    "# one\n# two\na = 1\n# three",
    ["one\ntwo", "three"],
  ],
  ["comments in SQL are read", "a.sql", "CREATE x (\n  -- one\n  a\n);", ["one"]],
  [
    "settings that are commented out are not read",
    "a.toml",
    "# one\n# [[table]]\n# name = 1\n# KEY=1",
    ["one"],
  ],
  ["code becomes one word", "a.toml", "# run `npm start` now", ["run code now"]],
  [
    "texts of GitHub's forms are read",
    ".github/a.yml",
    "name: Bug\nlabel: What?\ntype: x",
    ["Bug", "What?"],
  ],
])("in settings, %s", (_, path, text, expected) => {
  expect(settingsTextsOf(path, text).map((passage) => passage.text)).toEqual(expected);
});

it("finds comments that are wider than the limit, and ignores values", () => {
  expect(wideSettingsOf("a.toml", "# 4567890\nlong = 12345\n# 45", 8)).toEqual([
    { path: "a.toml", line: 1, text: "# 4567890" },
  ]);
});
