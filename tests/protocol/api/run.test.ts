import { describe, expect, it } from "vitest";
import {
  IdSchema,
  LabelSchema,
  RunRequestSchema,
  RunResponseSchema,
  TurnRequestSchema,
} from "../../../src/protocol/api";
import { runLinks } from "../../../src/protocol/paths";

const question = "Why is the sky blue?";

describe("a request for a run", () => {
  it.each([
    { name: "only a question", body: { question } },
    { name: "a team by name", body: { question, config: "demo" } },
    { name: "a team as an object", body: { question, config: { agents: [] } } },
    { name: "a team as YAML", body: { question, config_yaml: "agents: []" } },
    { name: "a budget of 0", body: { question, budget: { max_cost_usd: 0, max_tokens: 0 } } },
    { name: "the shortest time limit", body: { question, timeout_seconds: 1 } },
    {
      name: "the longest question and the longest time limit",
      body: { question: "x".repeat(200_000), timeout_seconds: 86_400 },
    },
  ])("may have $name", ({ body }) => {
    expect(RunRequestSchema.parse(body)).toEqual(body);
  });

  it.each([
    { name: "no question", body: {}, path: "question" },
    { name: "an empty question", body: { question: "" }, path: "question" },
    { name: "a blank question", body: { question: " \n\t\u3000" }, path: "question" },
    {
      name: "a question that is too long",
      body: { question: "x".repeat(200_001) },
      path: "question",
    },
    {
      name: "a question with half a surrogate pair",
      body: { question: "\ud800" },
      path: "question",
    },
    { name: "a question that is a number", body: { question: 42 }, path: "question" },
    { name: "an unknown field", body: { question, agents: [] }, path: "" },
    {
      name: "two configs",
      body: { question, config: "demo", config_yaml: "agents: []" },
      path: "config_yaml",
    },
    {
      name: "a negative budget",
      body: { question, budget: { max_cost_usd: -1 } },
      path: "budget.max_cost_usd",
    },
    {
      name: "an infinite budget",
      body: { question, budget: { max_cost_usd: Number.POSITIVE_INFINITY } },
      path: "budget.max_cost_usd",
    },
    {
      name: "a budget so large that sums would not be exact",
      body: { question, budget: { max_cost_usd: 1e308 } },
      path: "budget.max_cost_usd",
    },
    {
      name: "a budget as text",
      body: { question, budget: { max_cost_usd: "Infinity" } },
      path: "budget.max_cost_usd",
    },
    {
      name: "a budget of half a token",
      body: { question, budget: { max_tokens: 0.5 } },
      path: "budget.max_tokens",
    },
    {
      name: "an unknown field of the budget",
      body: { question, budget: { max_usd: 1 } },
      path: "budget",
    },
    { name: "a time limit of 0", body: { question, timeout_seconds: 0 }, path: "timeout_seconds" },
    {
      name: "a time limit of more than a day",
      body: { question, timeout_seconds: 86_401 },
      path: "timeout_seconds",
    },
    {
      name: "the key __proto__",
      body: JSON.parse(`{"question": "x", "__proto__": {"admin": true}}`),
      path: "",
    },
  ])("with $name is refused, and the error names the field", ({ body, path }) => {
    const result = RunRequestSchema.safeParse(body);
    expect(result.error?.issues.map((issue) => issue.path.join("."))).toEqual([path]);
  });
});

describe("a request for a turn", () => {
  it("may name the turn that it follows", () => {
    expect(TurnRequestSchema.parse({ question, parent_turn: 3 })).toEqual({
      question,
      parent_turn: 3,
    });
  });
  it.each([0, -1, 1.5, "1"])("with parent_turn %j is refused", (parent_turn) => {
    expect(TurnRequestSchema.safeParse({ question, parent_turn }).success).toBe(false);
  });
  it("may repeat a turn, with other limits", () => {
    const request = { repeat_turn: 2, budget: { max_tokens: 9_000 }, timeout_seconds: 60 };
    expect(TurnRequestSchema.parse(request)).toEqual(request);
  });
  it.each([
    { name: "without a question", body: {}, path: "question" },
    { name: "that repeats a turn with another question", body: { question }, path: "question" },
    {
      name: "that repeats a turn after another turn",
      body: { parent_turn: 1 },
      path: "parent_turn",
    },
    {
      name: "that repeats a turn with other contexts",
      body: { contexts: [{ name: "site" }] },
      path: "contexts",
    },
    {
      name: "that repeats a turn with other overrides",
      body: { overrides: { quick: true } },
      path: "overrides",
    },
    {
      name: "that repeats a turn with another team",
      body: { config: "demo" },
      path: "config",
    },
    { name: "that repeats turn 0", body: { repeat_turn: 0 }, path: "repeat_turn" },
  ])("$name is refused, and the error names the field", ({ name, body, path }) => {
    const repeated = name.startsWith("that repeats") ? { repeat_turn: 2 } : {};
    const result = TurnRequestSchema.safeParse({ ...repeated, ...body });
    expect(result.error?.issues.map((issue) => issue.path.join("."))).toEqual([path]);
  });
  it.each([
    { config: "demo" },
    { config: { agents: [] } },
    { config_yaml: "agents: []" },
    { overrides: {} },
    { overrides: { agents: ["a"], models: { a: "m" }, max_new_answers_per_agent: 2 } },
    { overrides: { quick: true, personas: false, skip_coordination: false } },
    { overrides: { quick: false, max_new_answers_per_agent: 2 } },
  ])("may bring another team or change it: %j", (team) => {
    expect(TurnRequestSchema.parse({ question, ...team })).toEqual({ question, ...team });
  });
  it.each([
    { name: "two teams", team: { config: "demo", config_yaml: "x" }, path: "config_yaml" },
    {
      name: "models for more agents than a team can have",
      team: {
        overrides: {
          models: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`a${n}`, "m"])),
        },
      },
      path: "overrides.models",
    },
    {
      name: "overrides of no agent",
      team: { overrides: { agents: [] } },
      path: "overrides.agents",
    },
    {
      name: "an empty model",
      team: { overrides: { models: { a: "" } } },
      path: "overrides.models.a",
    },
    {
      name: "no answer",
      team: { overrides: { max_new_answers_per_agent: 0 } },
      path: "overrides.max_new_answers_per_agent",
    },
    {
      name: "quick and a number of answers",
      team: { overrides: { quick: true, max_new_answers_per_agent: 1 } },
      path: "overrides.max_new_answers_per_agent",
    },
    { name: "an unknown override", team: { overrides: { fast: true } }, path: "overrides" },
  ])("with $name is refused, and the error names the field", ({ team, path }) => {
    const result = TurnRequestSchema.safeParse({ question, ...team });
    expect(result.error?.issues.map((issue) => issue.path.join("."))).toEqual([path]);
  });
});

describe("ids and labels", () => {
  it.each([
    ["session_01jdab3c4d5e6f7g8h9jkmnpqr", true],
    ["a".repeat(10), true],
    ["a".repeat(9), false],
    ["a".repeat(65), false],
    ["Session_01JDAB3C4D", false],
    ["../other/session", false],
    ["session%2e%2e%2f", false],
    ["session_😀abcdefgh", false],
    ["session_01jdab\n", false],
    ["", false],
  ])("id %j is valid: %s", (id, isValid) => {
    expect(IdSchema.safeParse(id).success).toBe(isValid);
  });
  it.each([
    ["agent1.1", true],
    ["agent32.12", true],
    ["agent2.final", true],
    ["agent0.1", false],
    ["agent1.0", false],
    ["agent1", false],
    ["agent1.1/../x", false],
  ])("label %j is valid: %s", (label, isValid) => {
    expect(LabelSchema.safeParse(label).success).toBe(isValid);
  });
});

it("the links of a run are the paths of its session and turn", () => {
  const links = runLinks("session_01jdab3c4d", 2);
  expect(
    RunResponseSchema.parse({ session_id: "session_01jdab3c4d", turn: 2, status: "running", links })
      .links,
  ).toEqual({
    session: "/api/sessions/session_01jdab3c4d",
    turn: "/api/sessions/session_01jdab3c4d/turns/2",
    events: "/api/sessions/session_01jdab3c4d/turns/2/events",
    cancel: "/api/sessions/session_01jdab3c4d/cancel",
  });
});

it("a response may contain warnings, with line and column if the config is text", () => {
  const links = runLinks("session_01jdab3c4d", 1);
  const warnings = [
    {
      code: "no_effect",
      pointer: "/agents/0/cwd",
      line: 4,
      column: 5,
      detail: "has no effect here",
    },
    {
      code: "no_key",
      pointer: "/agent/backend/base_url",
      line: null,
      column: null,
      detail: "No key is known",
    },
  ];
  const response = {
    session_id: "session_01jdab3c4d",
    turn: 1,
    status: "running",
    links,
    warnings,
  };
  expect(RunResponseSchema.parse(response)).toEqual(response);
});
