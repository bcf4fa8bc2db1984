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
    { name: "a question alone", body: { question } },
    { name: "a team by name", body: { question, config: "demo" } },
    { name: "a team as an object", body: { question, config: { agents: [] } } },
    { name: "a team as YAML", body: { question, config_yaml: "agents: []" } },
    { name: "a budget of nothing", body: { question, budget: { max_cost_usd: 0, max_tokens: 0 } } },
    { name: "the shortest and the longest time", body: { question, timeout_seconds: 1 } },
    {
      name: "a question of the largest size",
      body: { question: "x".repeat(200_000), timeout_seconds: 86_400 },
    },
  ])("may be $name", ({ body }) => {
    expect(RunRequestSchema.parse(body)).toEqual(body);
  });

  it.each([
    { name: "no question", body: {}, path: "question" },
    { name: "an empty question", body: { question: "" }, path: "question" },
    { name: "a blank question", body: { question: " \n\t\u3000" }, path: "question" },
    { name: "a question over the size", body: { question: "x".repeat(200_001) }, path: "question" },
    { name: "a question with half a character", body: { question: "\ud800" }, path: "question" },
    { name: "a question that is a number", body: { question: 42 }, path: "question" },
    { name: "a field it does not know", body: { question, agents: [] }, path: "" },
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
      name: "an endless budget",
      body: { question, budget: { max_cost_usd: Number.POSITIVE_INFINITY } },
      path: "budget.max_cost_usd",
    },
    {
      name: "a budget beyond all sums",
      body: { question, budget: { max_cost_usd: 1e308 } },
      path: "budget.max_cost_usd",
    },
    {
      name: "a budget as text",
      body: { question, budget: { max_cost_usd: "Infinity" } },
      path: "budget.max_cost_usd",
    },
    {
      name: "half a token",
      body: { question, budget: { max_tokens: 0.5 } },
      path: "budget.max_tokens",
    },
    { name: "an unknown budget", body: { question, budget: { max_usd: 1 } }, path: "budget" },
    { name: "no time", body: { question, timeout_seconds: 0 }, path: "timeout_seconds" },
    {
      name: "more than a day",
      body: { question, timeout_seconds: 86_401 },
      path: "timeout_seconds",
    },
    {
      name: "a prototype",
      body: JSON.parse(`{"question": "x", "__proto__": {"admin": true}}`),
      path: "",
    },
  ])("is refused with $name, with the place", ({ body, path }) => {
    const result = RunRequestSchema.safeParse(body);
    expect(result.error?.issues.map((issue) => issue.path.join("."))).toEqual([path]);
  });
});

describe("a request for a turn", () => {
  it("may name the turn it follows", () => {
    expect(TurnRequestSchema.parse({ question, parent_turn: 3 })).toEqual({
      question,
      parent_turn: 3,
    });
  });
  it.each([0, -1, 1.5, "1"])("is refused with parent_turn %j", (parent_turn) => {
    expect(TurnRequestSchema.safeParse({ question, parent_turn }).success).toBe(false);
  });
  it("has the team of its session, not another", () => {
    expect(TurnRequestSchema.safeParse({ question, config: "demo" }).success).toBe(false);
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
  ])("id %j: %s", (id, ok) => {
    expect(IdSchema.safeParse(id).success).toBe(ok);
  });
  it.each([
    ["agent1.1", true],
    ["agent32.12", true],
    ["agent2.final", true],
    ["agent0.1", false],
    ["agent1.0", false],
    ["agent1", false],
    ["agent1.1/../x", false],
  ])("label %j: %s", (label, ok) => {
    expect(LabelSchema.safeParse(label).success).toBe(ok);
  });
});

it("links lead to the run's own routes", () => {
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

it("the response to a run may contain the warnings of its config, with their places if there is text", () => {
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
  const answer = { session_id: "session_01jdab3c4d", turn: 1, status: "running", links, warnings };
  expect(RunResponseSchema.parse(answer)).toEqual(answer);
});
