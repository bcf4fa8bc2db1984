import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseSuite } from "../../src/evals/parse-suite";
import { planRun } from "../../src/evals/plan-run";
import type { Suite } from "../../src/evals/schema";
import { KEY_NAMES } from "../../src/providers/hosts";

const HEAD = `name: arithmetic
description: Sums.
team: demo
budget: {max_tokens: 1000}
`;
const CASES = `cases:
  - id: one
    question: What is 1 + 1?
    grader: {type: number, value: 2}
`;

const errorsOf = (yaml: string) => {
  const result = parseSuite(yaml);
  return result.ok ? [] : result.errors;
};

function suiteOf(yaml: string): Suite {
  const result = parseSuite(yaml);
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result.suite;
}

const withGrader = (grader: string) =>
  `${HEAD}cases:\n  - id: one\n    question: Q?\n    grader: ${grader}\n`;

describe("a suite", () => {
  it("has defaults for omitted settings", () => {
    expect(suiteOf(HEAD + CASES)).toMatchObject({ at_once: 2, timeout_seconds: 300 });
    expect(suiteOf(HEAD + CASES).cron).toBeUndefined();
  });

  it.each([
    {
      name: "an unknown key",
      yaml: `${HEAD}at_ones: 3\n${CASES}`,
      code: "unknown_key",
      pointer: "/at_ones",
      line: 5,
      says: "Did you mean `at_once`?",
    },
    {
      name: "an unknown key in a case",
      yaml: `${HEAD}${CASES}    grade: x\n`,
      code: "unknown_key",
      pointer: "/cases/0/grade",
      line: 9,
      says: "`grader`",
    },
    {
      name: "no budget",
      yaml: `name: a\ndescription: b\nteam: demo\n${CASES}`,
      code: "missing",
      pointer: "/budget",
      says: "budget is missing",
    },
    {
      name: "a budget without a limit",
      yaml: HEAD.replace("{max_tokens: 1000}", "{}") + CASES,
      code: "out_of_range",
      pointer: "/budget",
      line: 4,
      says: "must set max_cost_usd, max_tokens or both",
    },
    {
      name: "too many cases at the same time",
      yaml: `${HEAD}at_once: 9\n${CASES}`,
      code: "out_of_range",
      pointer: "/at_once",
      line: 5,
      column: 10,
      says: "8",
    },
    {
      name: "a word instead of a number",
      yaml: `${HEAD}at_once: two\n${CASES}`,
      code: "wrong_type",
      pointer: "/at_once",
      line: 5,
      says: "number",
    },
    {
      name: "a budget that is a text",
      yaml: HEAD.replace("1000", "100_000") + CASES,
      code: "wrong_type",
      pointer: "/budget/max_tokens",
      line: 4,
      says: "string",
    },
    {
      name: "a negative budget",
      yaml: HEAD.replace("1000", "-1") + CASES,
      code: "out_of_range",
      pointer: "/budget/max_tokens",
      line: 4,
      says: "0",
    },
    {
      name: "an infinite budget",
      yaml: HEAD.replace("max_tokens: 1000", "max_cost_usd: .inf") + CASES,
      code: "wrong_type",
      pointer: "/budget/max_cost_usd",
      line: 4,
      says: "",
    },
    {
      name: "a time limit that is too long",
      yaml: `${HEAD}timeout_seconds: 1e9\n${CASES}`,
      code: "out_of_range",
      pointer: "/timeout_seconds",
      line: 5,
      says: "3600",
    },
    {
      name: "no case",
      yaml: `${HEAD}cases: []\n`,
      code: "out_of_range",
      pointer: "/cases",
      line: 5,
      says: "1",
    },
    {
      name: "two cases with the same id",
      yaml: `${HEAD}${CASES}  - {id: one, question: Q?, grader: {type: exact, value: x}}\n`,
      code: "duplicate",
      pointer: "/cases/1/id",
      line: 9,
      says: "`one`",
    },
    {
      name: "an id that is a path",
      yaml: HEAD + CASES.replace("id: one", "id: ../one"),
      code: "out_of_range",
      pointer: "/cases/0/id",
      line: 6,
      says: "lower-case",
    },
    {
      name: "a blank question",
      yaml: HEAD + CASES.replace("What is 1 + 1?", '" "'),
      code: "out_of_range",
      pointer: "/cases/0/question",
      line: 7,
      says: "blank",
    },
    {
      name: "a name with capitals",
      yaml: HEAD.replace("arithmetic", "Sums") + CASES,
      code: "out_of_range",
      pointer: "/name",
      line: 1,
      says: "lower-case",
    },
    {
      name: "a team that is a list",
      yaml: HEAD.replace("team: demo", "team: [demo]") + CASES,
      code: "wrong_type",
      pointer: "/team",
      line: 3,
      says: "name of a team",
    },
    {
      name: "the key `__proto__`",
      yaml: `${HEAD}__proto__: {at_once: 9}\n${CASES}`,
      code: "unknown_key",
      pointer: "/__proto__",
      line: 5,
      says: "`__proto__`",
    },
    {
      name: "a text that is not YAML",
      yaml: "cases: [",
      code: "syntax",
      pointer: "",
      line: 1,
      says: "",
    },
    { name: "an empty text", yaml: "", code: "wrong_type", pointer: "", says: "mapping" },
    {
      name: "a list instead of a mapping",
      yaml: "- a\n- b\n",
      code: "wrong_type",
      pointer: "",
      line: 1,
      says: "mapping",
    },
    {
      name: "a regex as grader",
      yaml: withGrader('{type: regex, pattern: "(a+)+$"}'),
      code: "not_served",
      pointer: "/cases/0/grader/type",
      line: 8,
      says: "Patterns (regex) are not supported",
    },
    {
      name: "a grader without type",
      yaml: withGrader("{value: 1}"),
      code: "not_served",
      pointer: "/cases/0/grader/type",
      line: 8,
      says: "type must be",
    },
    {
      name: "an invalid expected number",
      yaml: withGrader("{type: number, value: .nan}"),
      code: "wrong_type",
      pointer: "/cases/0/grader/value",
      line: 8,
      says: "",
    },
    {
      name: "an expected number that is too large",
      yaml: withGrader("{type: number, value: 1e999}"),
      code: "wrong_type",
      pointer: "/cases/0/grader/value",
      line: 8,
      says: "",
    },
    {
      name: "a negative tolerance",
      yaml: withGrader("{type: number, value: 1, tolerance: {absolute: -1}}"),
      code: "out_of_range",
      pointer: "/cases/0/grader/tolerance/absolute",
      line: 8,
      says: "0",
    },
    {
      name: "both `all` and `any`",
      yaml: withGrader("{type: contains, all: [a], any: [b]}"),
      code: "out_of_range",
      pointer: "/cases/0/grader",
      line: 8,
      says: "either `all` or `any`",
    },
    {
      name: "neither `all` nor `any`",
      yaml: withGrader("{type: contains}"),
      code: "out_of_range",
      pointer: "/cases/0/grader",
      line: 8,
      says: "either `all` or `any`",
    },
    {
      name: "no expected JSON",
      yaml: withGrader("{type: json}"),
      code: "out_of_range",
      pointer: "/cases/0/grader/value",
      line: 8,
      says: "JSON",
    },
    {
      name: "an infinity inside the expected JSON",
      yaml: withGrader("{type: json, value: {a: [.inf]}}"),
      code: "out_of_range",
      pointer: "/cases/0/grader/value",
      line: 8,
      says: "JSON",
    },
    {
      name: "a blank expected text",
      yaml: withGrader('{type: exact, value: "  "}'),
      code: "out_of_range",
      pointer: "/cases/0/grader/value",
      line: 8,
      says: "blank",
    },
    {
      name: "a cron with seconds",
      yaml: `${HEAD}cron: "* * * * * *"\n${CASES}`,
      code: "out_of_range",
      pointer: "/cron",
      line: 5,
      says: "five fields",
    },
  ])(
    "is refused with $name, and the error names the place",
    ({ yaml, code, pointer, says, ...place }) => {
      expect(errorsOf(yaml)).toContainEqual(
        expect.objectContaining({
          code,
          pointer,
          detail: expect.stringContaining(says),
          ...("line" in place ? { line: place.line } : {}),
          ...("column" in place ? { column: place.column } : {}),
        }),
      );
      expect(Object.keys(Object.prototype)).toEqual([]);
    },
  );

  it.each([
    { name: "C9 a pattern that backtracks forever", pattern: "(a+)+$" },
    { name: "C9 a pattern that looks ahead and back", pattern: "(?=(a))\\1" },
    { name: "C10 an invalid pattern", pattern: "(" },
    { name: "C10 a pattern of 10 kB", pattern: "a?".repeat(5_000) },
    { name: "C10 a pattern that matches nothing written", pattern: "" },
  ])("$name as a grader is refused, like any pattern", ({ pattern }) => {
    expect(
      errorsOf(withGrader(`{type: regex, pattern: ${JSON.stringify(pattern)}}`)),
    ).toContainEqual(
      expect.objectContaining({
        code: "not_served",
        line: 8,
        detail: expect.stringContaining("Patterns (regex) are not supported"),
      }),
    );
  });

  it("is refused with all its problems, in the order of the text", () => {
    const lines = errorsOf(
      `${HEAD}at_once: 0\nfoo: 1\n${CASES.replace("value: 2", "value: two")}`,
    ).map(({ line }) => line);
    expect(lines).toEqual([5, 6, 10]);
  });

  it("is refused if aliases make it too large", () => {
    const texts = Array.from(
      { length: 40 },
      (_, index) => `  - {id: c${index}, question: *q, grader: {type: exact, value: x}}`,
    );
    const yaml = `${HEAD}cases:\n  - id: first\n    question: &q "${"x".repeat(40_000)}"\n    grader: {type: exact, value: x}\n${texts.join("\n")}\n`;
    expect(errorsOf(yaml)).toEqual([expect.objectContaining({ code: "too_large" })]);
  });
});

describe("the included suites", () => {
  const folder = "configs/evals";
  const files = readdirSync(folder);
  const operator = {
    storedKeys: KEY_NAMES,
    allowedOrigins: ["http://127.0.0.1:*", "http://localhost:*"],
    variables: {},
  };
  const teams = Object.fromEntries(
    readdirSync("configs/teams").map((file) => [
      file.replace(".yaml", ""),
      readFileSync(`configs/teams/${file}`, "utf8"),
    ]),
  );

  it.each(files)(
    "%s is valid, has the file's name, and is runnable when all keys are set",
    (file) => {
      const suite = suiteOf(readFileSync(`${folder}/${file}`, "utf8"));
      expect(`${suite.name}.yaml`).toBe(file);
      expect(planRun(suite, { teams, config: operator })).toMatchObject({ ok: true });
    },
  );
});

describe("a team of a suite", () => {
  const none = { teams: {}, config: { storedKeys: [], allowedOrigins: [], variables: {} } };
  const inline = (backend: string) =>
    suiteOf(
      `${HEAD.replace("team: demo", `team: {agents: [{id: a, backend: ${backend}}]}`)}${CASES}`,
    );

  it.each([
    { name: "that is unknown", suite: suiteOf(HEAD + CASES), code: "unknown_team" },
    {
      name: "with the name of a member of every object",
      suite: suiteOf(HEAD.replace("demo", "constructor") + CASES),
      code: "unknown_team",
    },
    {
      name: "whose key is not set",
      suite: inline("{type: openai, model: gpt-6.1-terra}"),
      code: "config_invalid",
    },
    {
      name: "without a known price, if the budget is in dollars,",
      suite: {
        ...inline(
          "{type: chatcompletion, model: m, base_url: 'https://api.example.org/v1', api_key: k}",
        ),
        budget: { max_cost_usd: 1 },
      },
      code: "price_unknown",
    },
  ])("$name cannot run, and the code is $code", ({ suite, code }) => {
    expect(planRun(suite, none)).toMatchObject({
      ok: false,
      code,
      detail: expect.stringMatching(/\S/),
    });
  });
});
