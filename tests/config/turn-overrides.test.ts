import { describe, expect, it } from "vitest";
import { type OverriddenTeam, withOverrides } from "../../src/config/turn-overrides";
import type { Overrides } from "../../src/protocol/turn-team";
import { entriesOf } from "../../src/workspace/permissions";
import { protectedPathsOf } from "../../src/workspace/protected-paths";
import { FULL_CONTEXT, teamOf, teamWith } from "./teams";

const team = (...backends: readonly string[]) =>
  teamOf(
    `agents:\n${backends.map((backend, index) => `  - {id: ${"abc"[index]}, backend: {${backend}}}\n`).join("")}`,
    FULL_CONTEXT,
  );
const CLAUDE = "type: claude, model: claude-sonnet-4-5, api_key: sk-own-key, temperature: 0.3";
const OPENAI = "type: openai, model: gpt-5";
const THREE = team(CLAUDE, OPENAI, OPENAI);

type Success = Extract<OverriddenTeam, { ok: true }>;

function applied(base: typeof THREE, overrides: Overrides): Success {
  const result = withOverrides(base, overrides);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result;
}

function problemsOf(base: typeof THREE, overrides: Overrides): string[] {
  const result = withOverrides(base, overrides);
  if (result.ok) throw new Error("the overrides apply");
  return result.problems.map(({ code, pointer, detail }) => `${code} ${pointer}: ${detail}`);
}

describe("another model", () => {
  const rules = (model: string) => team(CLAUDE.replace("claude-sonnet-4-5", model)).rules.agents[0];

  it("has the price, the window and the limits that a config with it has", () => {
    const changed = applied(THREE, { models: { a: "claude-haiku-4-5" } });
    expect(changed.team.rules.agents[0]).toEqual(rules("claude-haiku-4-5"));
    expect(changed.team.rules.agents[0]).not.toEqual(THREE.rules.agents[0]);
    expect(changed.overriddenAgents).toEqual([changed.team.rules.agents[0]]);
  });

  it("keeps the agent's backend, address, key and parameters", () => {
    const { agents } = applied(THREE, { models: { a: "claude-haiku-4-5" } }).team;
    expect(agents[0]).toEqual({
      ...THREE.agents[0],
      backend: { ...THREE.agents[0]?.backend, model: "claude-haiku-4-5" },
    });
    expect(agents.slice(1)).toEqual(THREE.agents.slice(1));
  });

  it("keeps the agent's tools and tool servers", () => {
    const own = team(
      `${CLAUDE}, cwd: work, mcp_servers: [{name: s, type: streamable-http, url: 'https://s.example.com/mcp'}]`,
    );
    const [before] = own.rules.agents;
    const [after] = applied(own, { models: { a: "claude-haiku-4-5" } }).team.rules.agents;
    expect([after?.tools, after?.tool_servers, after?.workspace]).toEqual([
      before?.tools,
      ["s"],
      true,
    ]);
  });

  it("keeps the config's limit of output tokens", () => {
    const capped = team(`${CLAUDE}, max_tokens: 500`);
    const [after] = applied(capped, { models: { a: "claude-haiku-4-5" } }).team.rules.agents;
    expect(after?.max_output_tokens).toBe(500);
  });

  it("has its own default rate limits, and keeps those of the config", () => {
    const rated = teamOf(
      teamWith(
        "type: gemini\nmodel: gemini-2.5-pro\nenable_rate_limit: true\nrate_limits: {rpm: 150}",
      ),
      FULL_CONTEXT,
    );
    const [agent] = applied(rated, { models: { a: "gemini-2.5-flash" } }).team.agents;
    expect(agent?.backend.rates).toEqual({
      requestsPerMinute: 150,
      tokensPerMinute: 240_000,
      requestsPerDay: 245,
    });
  });

  it("has a warning if its price is unknown", () => {
    const { warnings, team: changed } = applied(THREE, { models: { b: "some-model" } });
    expect(warnings).toEqual([
      {
        code: "price_unknown",
        pointer: "/overrides/models/b",
        detail: expect.stringContaining("The price of some-model at OpenAI is unknown"),
      },
    ]);
    expect(changed.rules.agents[1]?.price).toBeNull();
  });

  it("has a research call if its hosted tools need one, and the team begins to coordinate", () => {
    const direct = teamOf(
      "agents:\n  - {id: a, backend: {type: gemini, model: gemini-2.5-flash, enable_web_search: true}}\n  - {id: b, backend: {type: openai}}\norchestrator: {skip_coordination_rounds: true}",
      FULL_CONTEXT,
    );
    expect(direct.rules.agents[0]).not.toHaveProperty("hosted_alone");
    const changed = applied(direct, { skip_coordination: false });
    expect(changed.team.rules.agents[0]).toMatchObject({ hosted_alone: true });
    expect(changed.overriddenAgents.map(({ id }) => id)).toEqual(["a"]);
  });
});

describe("a team with some of its agents", () => {
  it("has these agents with their numbers in the whole team", () => {
    const { agents, rules } = applied(THREE, { agents: ["c", "b"] }).team;
    expect(agents.map(({ id }) => id)).toEqual(["b", "c"]);
    expect(rules.agents.map(({ id, number }) => [id, number])).toEqual([
      ["b", 2],
      ["c", 3],
    ]);
  });

  it("keeps the paths protected that an agent without part protects", () => {
    const own = team(
      "type: claude, context_paths: [{path: site, protected_paths: ['*.pem', '!sample.pem']}]",
      "type: claude",
    );
    const { team: changed } = applied(own, { agents: ["b"] });
    expect(entriesOf(protectedPathsOf(changed, 0, "site"))).toEqual(["*.pem"]);
    expect(JSON.stringify(changed.leftOut)).not.toContain("backend");
  });
});

it("the team itself does not change", () => {
  const before = structuredClone(THREE);
  applied(THREE, { agents: ["a"], models: { a: "claude-haiku-4-5" }, quick: true });
  expect(THREE).toEqual(before);
});

describe("overrides are refused", () => {
  it.each<{ name: string; base?: typeof THREE; overrides: Overrides; problems: string[] }>([
    {
      name: "if the team lacks an agent, at each place that names it",
      overrides: { agents: ["a", "x"], models: { y: "gpt-5" } },
      problems: [
        "unknown_agents /overrides/agents/1: The team has no agent `x`. Its agents: a, b, c.",
        "unknown_agents /overrides/models/y: The team has no agent `y`. Its agents: a, b, c.",
      ],
    },
    {
      name: "if no agent takes part",
      overrides: { agents: [] },
      problems: [
        "no_agents /overrides/agents: No agent takes part: name one of a, b, c, or leave out `agents`.",
      ],
    },
    {
      name: "if an agent without part gets another model",
      overrides: { agents: ["a"], models: { b: "gpt-5" } },
      problems: [
        "left_out_agents /overrides/models/b: b gets another model, but takes no part: add it to `agents`, or leave out its model.",
      ],
    },
    {
      name: "if they are quick and have a number of answers",
      overrides: { quick: true, max_new_answers_per_agent: 2 },
      problems: [
        "quick_and_max_answers /overrides/max_new_answers_per_agent: With `quick` each agent answers once: leave out `max_new_answers_per_agent` or `quick`.",
      ],
    },
    {
      name: "if a model's name would change the address of a call",
      overrides: { models: { a: "../other" } },
      problems: [
        "out_of_range /overrides/models/a: The model of a must be a name of at most 200 characters, without `..` or any of ? # % \\; it is `../other`.",
      ],
    },
  ])("$name", ({ base = THREE, overrides, problems }) => {
    expect(problemsOf(base, overrides)).toEqual(problems);
  });

  it("if the model does not support a parameter of the agent", () => {
    expect(problemsOf(THREE, { models: { a: "claude-opus-4-8" } })).toEqual([
      "not_allowed /overrides/models/a: temperature: claude-opus-4-8 does not support `temperature`: remove it.",
    ]);
  });
});
