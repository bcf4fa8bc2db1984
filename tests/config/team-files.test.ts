import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parseTeam } from "../../src/config/parse-team";
import { HOSTS } from "../../src/providers/registry";
import { FULL_CONTEXT } from "./teams";

/** The included teams. */
const FOLDER = "configs/teams";
const read = (file: string) => readFileSync(`${FOLDER}/${file}`, "utf8");
const files = readdirSync(FOLDER);
/** All names of a provider's key; some keys have two names. */
const namesOf = (key: string): readonly string[] =>
  HOSTS.find(({ keyNames }) => keyNames.includes(key))?.keyNames ?? [];

it("there is a team for each common use", () => {
  const expected = [
    "coding",
    "demo",
    "fast-and-cheap",
    "one-provider",
    "one-provider-three-personas",
    "research",
    "three-providers",
  ];
  expect(files.toSorted()).toEqual(expected.map((name) => `${name}.yaml`).toSorted());
});

it.each(files)("%s is a team of three agents, and has no warning if every key is set", (file) => {
  const result = parseTeam(read(file), FULL_CONTEXT);
  expect(result).toMatchObject({ ok: true, warnings: [] });
  expect(result.ok && result.team.agents).toHaveLength(3);
});

it.each(files)("%s starts with comments that name its schema, its command and its keys", (file) => {
  const text = read(file);
  const comment = text.slice(0, text.indexOf("\nagents:"));
  expect(comment.split("\n")[0]).toBe("# yaml-language-server: $schema=../team.schema.json");
  expect(comment).toMatch(
    new RegExp(
      `^#   npm run ask -- --config configs/teams/${file.replace(".", "\\.")} ".+\\?*\\.?"$`,
      "m",
    ),
  );
  const result = parseTeam(text, { ...FULL_CONTEXT, storedKeys: [] });
  const needs = result.ok ? [] : result.errors.flatMap(({ need }) => need ?? []);
  expect(needs.length).toBeGreaterThan(0);
  for (const key of needs)
    expect(
      namesOf(key).some((name) => comment.includes(name)),
      key,
    ).toBe(true);
});
