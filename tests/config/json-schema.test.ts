import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { teamSchema } from "../../src/config/json-schema";
import { checkTeam } from "../../src/config/parse-team";
import { BACKEND, COORDINATION, ORCHESTRATOR, TIMEOUTS, UI } from "./massgen-keys";
import { problemsOf } from "./schema-check";
import { FULL_CONTEXT } from "./teams";

const SCHEMA = "configs/team.schema.json";
const schema: Record<string, unknown> = JSON.parse(readFileSync(SCHEMA, "utf8"));
const problems = (yaml: string) => problemsOf(schema, parse(yaml));

it("the JSON Schema in configs/ matches the code; to update: npm run docs", () => {
  expect(`${JSON.stringify(teamSchema(), null, 2)}\n`).toBe(readFileSync(SCHEMA, "utf8"));
});

describe("the JSON Schema accepts", () => {
  const teams = readdirSync("configs/teams").map((name) => path.join("configs/teams", name));
  it.each(teams)("%s", (file) => expect(problems(readFileSync(file, "utf8"))).toEqual([]));

  const samples = path.resolve("../shared/massgen-configs");
  const names = existsSync(samples)
    ? readdirSync(samples, { recursive: true, encoding: "utf8" })
    : [];
  const texts = names
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => [name, readFileSync(path.join(samples, name), "utf8")]);
  const runnable = texts.filter(([, text]) => checkTeam(text, FULL_CONTEXT).runnable);
  it.skipIf(runnable.length === 0)(
    "MassGen's examples that run [needs ../shared/massgen-configs]",
    () => {
      expect(
        runnable.flatMap(([name, text]) =>
          problems(text ?? "").map((problem) => `${name} ${problem}`),
        ),
      ).toEqual([]);
    },
  );

  const sections = [
    {
      rows: BACKEND,
      config: (line: string, type: string) => `agent: {id: a, backend: {type: ${type}, ${line}}}`,
    },
    {
      rows: ORCHESTRATOR,
      config: (line: string) => `agent: {id: a, backend: {type: claude}}\norchestrator: {${line}}`,
    },
    {
      rows: COORDINATION,
      config: (line: string) =>
        `agent: {id: a, backend: {type: claude}}\norchestrator: {coordination: {${line}}}`,
    },
    {
      rows: TIMEOUTS,
      config: (line: string) =>
        `agent: {id: a, backend: {type: claude}}\ntimeout_settings: {${line}}`,
    },
    {
      rows: UI,
      config: (line: string) => `agent: {id: a, backend: {type: claude}}\nui: {${line}}`,
    },
  ];
  const rows = sections.flatMap(({ rows: keys, config }) =>
    keys.map(({ key, value, expected, type = "openai" }) => ({
      source: config(`${key}: ${value}`, type),
      isAccepted: expected === "obeyed" || expected === "warned",
    })),
  );
  it.each([
    "{model: gpt-6-luna}",
    "{model: claude-sonnet-5-5, max_tokens: 99}",
    "{model: gemini-3.8-flash, enable_web_search: true}",
  ])("a backend whose model implies its type: %s", (backend) => {
    const source = `agent: {id: a, backend: ${backend}}`;
    expect(problems(source)).toEqual([]);
    expect(checkTeam(source, FULL_CONTEXT).errors).toEqual([]);
  });
  it.each([
    "{type: grok, api: chat_completions, min_p: 0.1}",
    "{type: grok, text: {verbosity: low}}",
    "{type: azure_openai, model: m, api: responses, text: {verbosity: low}}",
  ])("parameters of the chosen API: %s", (backend) => {
    const source = `agent: {id: a, backend: ${backend}}`;
    expect([problems(source), checkTeam(source, FULL_CONTEXT).errors]).toEqual([[], []]);
  });
  it.each(rows.filter(({ isAccepted }) => isAccepted))(
    "a config that the config check accepts: $source",
    ({ source }) => {
      expect(problems(source)).toEqual([]);
    },
  );
  it.each(rows.filter(({ isAccepted }) => !isAccepted))(
    "no config that the config check refuses: $source",
    ({ source }) => {
      expect(problems(source)).not.toEqual([]);
    },
  );
});

describe("the JSON Schema refuses", () => {
  it.each([
    ["no agents", "orchestrator: {}"],
    ["agents and agent", "agent: {id: a, backend: {type: claude}}\nagents: []"],
    ["a misspelled key", "agent: {id: a, backend: {type: claude}}\norchestrater: {}"],
    ["a key of the first version", "agent: {id: a, backend: {type: claude}}\nnum_agents: 3"],
    ["a type that is not supported", "agent: {id: a, backend: {type: claude_code}}"],
    ["another format's parameter", "agent: {id: a, backend: {type: claude, seed: 7}}"],
    [
      "a parameter of the API that is not chosen",
      "agent: {id: a, backend: {type: grok, min_p: 0.1}}",
    ],
    [
      "a parameter that the other API would support",
      "agent: {id: a, backend: {type: azure_openai, model: m, api: chat_completions, text: {verbosity: low}}}",
    ],
    ["another type's key", "agent: {id: a, backend: {type: openai, azure_endpoint: x}}"],
    [
      "a hosted tool that the type does not support",
      "agent: {id: a, backend: {type: groq, enable_web_search: true}}",
    ],
    ["a number out of its bounds", "agent: {id: a, backend: {type: claude, temperature: 9}}"],
    [
      "a model of many providers, without a type",
      "agent: {id: a, backend: {model: llama-3.3-70b}}",
    ],
    [
      "another format's parameter for a model whose name implies its type",
      "agent: {id: a, backend: {model: claude-sonnet-5-5, seed: 7}}",
    ],
    ["an id that is a path", 'agent: {id: "../x", backend: {type: claude}}'],
    ["an id that is an inherited property name", "agent: {id: toString, backend: {type: claude}}"],
    ["a stop sequence that is no text", "agent: {id: a, backend: {type: claude, stop: [1]}}"],
    [
      "a stop sequence that is no text, for a format that accepts a list",
      "agent: {id: a, backend: {type: groq, model: m, stop: [x, 1]}}",
    ],
    [
      "a model's name that changes the path of a request",
      "agent: {id: a, backend: {type: gemini, model: a/../b}}",
    ],
    ["a model's name with a query", "agent: {id: a, backend: {type: gemini, model: 'a?key=b'}}"],
    ["an empty key", 'agent: {id: a, backend: {type: claude, api_key: ""}}'],
  ])("%s", (_, source) => {
    expect(problems(source)).not.toEqual([]);
    expect(checkTeam(source, FULL_CONTEXT).runnable).toBe(false);
  });
});
