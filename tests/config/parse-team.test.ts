import { describe, expect, it } from "vitest";
import { parseTeam } from "../../src/config/parse-team";
import { TeamRulesSchema } from "../../src/protocol/team";
import { teamRules } from "../builders/team-rules";
import {
  CONTEXT,
  coordination,
  detailsOf,
  errorsOf,
  orchestrator,
  teamOf,
  yamlWith,
} from "./teams";

describe("a team", () => {
  it("has MassGen's defaults for omitted settings", () => {
    const { rules } = teamOf(yamlWith());
    expect(rules).toEqual(teamRules(rules.agents));
  });

  it("keeps the order of its agents, and its rules have the facts of each model", () => {
    const team = teamOf(yamlWith());
    expect(TeamRulesSchema.parse(team.rules)).toEqual(team.rules);
    expect(team.rules.agents).toMatchObject([
      {
        id: "a",
        provider: "openai",
        model: "gpt-5-mini",
        context_window: 400_000,
        price: { input: 0.25 },
        forces_tools: true,
      },
      { id: "b", provider: "openai", model: "gpt-5-nano" },
    ]);
    expect(team.agents[0]).toEqual({
      id: "a",
      systemMessage: null,
      votingSensitivity: "lenient",
      backend: {
        type: "chatcompletion",
        format: "openai-chat",
        model: "gpt-5-mini",
        baseUrl: "https://api.openai.com/v1",
        key: { from: "stored", name: "OPENAI_API_KEY" },
        capsOutput: false,
        host: "openai",
        apiVersion: null,
        hostedTools: [],
        params: {},
      },
    });
  });

  it.each([
    { name: "no cap", line: "", capsOutput: false, maxTokens: 16_384 },
    {
      name: "a cap above the default",
      line: "max_tokens: 30000",
      capsOutput: true,
      maxTokens: 30_000,
    },
    { name: "a small cap", line: "max_tokens: 500", capsOutput: true, maxTokens: 500 },
  ])(
    "has the output limit of the config or the default limit for an unknown model: $name",
    ({ line, capsOutput, maxTokens }) => {
      const backend = `{type: chatcompletion, model: strange-1, base_url: "https://models.example.com/v1", api_key: k${line && `, ${line}`}}`;
      const result = parseTeam(`agents: [{id: a, backend: ${backend}}]`, {
        storedKeys: [],
        allowedOrigins: [],
        variables: {},
      });
      if (!result.ok) throw new Error(JSON.stringify(result.errors));
      expect(result.team.agents[0]?.backend.capsOutput).toBe(capsOutput);
      expect(result.team.rules.agents[0]?.max_output_tokens).toBe(maxTokens);
    },
  );

  it.each([
    ["max_new_answers_per_agent: 2", { max_new_answers_per_agent: 2 }],
    ["max_new_answers_global: 7", { max_new_answers_global: 7 }],
    ["fairness_lead_cap_answers: 3", { fairness_lead_cap_answers: 3 }],
    ["fairness_enabled: false", { fairness_lead_cap_answers: null }],
    ["answer_novelty_requirement: strict", { answer_novelty_requirement: "strict" }],
    ["max_midstream_injections_per_round: 0", { max_midstream_injections_per_round: 0 }],
    ["max_calls_per_round: 12", { max_calls_per_round: 12 }],
    ["defer_voting_until_all_answered: true", { defer_voting_until_all_answered: true }],
    ["skip_coordination_rounds: true", { skip_coordination: true }],
    ["max_new_answers_per_agent:", { max_new_answers_per_agent: 5 }],
  ])("obeys orchestrator %s", (line, rules) => {
    expect(teamOf(orchestrator(line)).rules).toMatchObject(rules);
  });

  it.each([
    ["max_orchestration_restarts: 2", { max_orchestration_restarts: 2 }],
    ["enable_planning_mode: true", { planning_mode: true }],
    ["persona_generator: {enabled: true}", { personas: true }],
  ])("obeys coordination %s", (line, rules) => {
    expect(teamOf(coordination(line)).rules).toMatchObject(rules);
  });

  it("obeys the time limits, and rounds have no time limit by default (D3)", () => {
    const timeouts = (lines: string) =>
      teamOf(yamlWith({ top: `timeout_settings: {${lines}}` })).rules;
    expect(
      timeouts("orchestrator_timeout_seconds: 900, initial_round_timeout_seconds: 60"),
    ).toMatchObject({
      orchestrator_timeout_ms: 900_000,
      initial_round_timeout_ms: 60_000,
    });
    expect(
      timeouts("subsequent_round_timeout_seconds: 30, round_timeout_grace_seconds: 0"),
    ).toMatchObject({
      initial_round_timeout_ms: null,
      subsequent_round_timeout_ms: 30_000,
      round_timeout_grace_ms: 0,
    });
    expect(timeouts("orchestrator_timeout_seconds: 30")).toMatchObject({
      orchestrator_timeout_ms: 30_000,
      initial_round_timeout_ms: null,
      subsequent_round_timeout_ms: null,
      round_timeout_grace_ms: 120_000,
      failing_member_grace_ms: 5_000,
    });
    expect(timeouts("failing_member_grace_seconds: 20")).toMatchObject({
      failing_member_grace_ms: 20_000,
    });
  });

  it("uses the planning instruction only in planning mode", () => {
    const lines = (on: boolean) =>
      coordination(`enable_planning_mode: ${on}\n    planning_mode_instruction: Plan first.`);
    expect(teamOf(lines(true)).planningInstruction).toBe("Plan first.");
    expect(teamOf(lines(false)).planningInstruction).toBeNull();
  });

  it("reads the settings of personas", () => {
    const line =
      "persona_generator: {enabled: true, diversity_mode: methodology, persona_guidelines: Be bold., after_first_answer: keep}";
    expect(teamOf(coordination(line)).personas).toEqual({
      diversityMode: "methodology",
      guidelines: "Be bold.",
      afterFirstAnswer: "keep",
    });
    expect(
      teamOf(coordination("persona_generator: {diversity_mode: methodology}")).personas,
    ).toBeNull();
  });

  it("may have agents with different voting sensitivities", () => {
    const team = teamOf(
      yamlWith({
        top: "orchestrator: {voting_sensitivity: strict}",
        agent: "voting_sensitivity: balanced",
      }),
    );
    expect(team.agents.map((agent) => agent.votingSensitivity)).toEqual(["balanced", "strict"]);
  });

  it.each([
    ["skips coordination by default", "", true],
    [
      "skips coordination if the config disables it",
      "ui: {use_orchestrator_for_single_agent: false}",
      true,
    ],
    [
      "coordinates if the config enables it",
      "ui: {use_orchestrator_for_single_agent: true}",
      false,
    ],
  ])("of one agent %s", (_, ui, skips) => {
    expect(
      teamOf(`agent: {id: a, backend: {type: chatcompletion, model: m}}\n${ui}`).rules
        .skip_coordination,
    ).toBe(skips);
  });

  it("is the same if it is a JSON object instead of YAML text", () => {
    const object = {
      agents: ["a", "b"].map((id, i) => ({
        id,
        backend: { type: "chatcompletion", model: ["gpt-5-mini", "gpt-5-nano"][i] },
      })),
    };
    expect(teamOf(object)).toEqual(teamOf(yamlWith()));
  });

  it("may share settings through YAML anchors", () => {
    const team = teamOf(
      "agents:\n  - id: a\n    backend: &b {type: chatcompletion, model: m}\n  - id: b\n    backend: *b",
    );
    expect(team.agents.map((agent) => agent.backend.model)).toEqual(["m", "m"]);
  });
});

describe("a warning", () => {
  it.each([
    [
      "a setting that is only for a terminal",
      yamlWith({ top: "ui: {display_type: rich_terminal}" }),
      "8:6 no_effect /ui/display_type",
    ],
    [
      "a setting that has no effect in MassGen either",
      yamlWith({ agent: "append_system_prompt: x" }),
      "3:5 no_effect /agents/0/append_system_prompt",
    ],
    [
      "settings of Docker",
      yamlWith({ backend: "command_line_docker_image: x" }),
      "6:7 no_effect /agents/0/backend/command_line_docker_image",
    ],
  ])("names %s, and the team runs", (_, source, warning) => {
    const result = parseTeam(source, CONTEXT);
    expect(result.ok).toBe(true);
    expect(
      result.warnings.map(
        ({ line, column, code, pointer }) => `${line}:${column} ${code} ${pointer}`,
      ),
    ).toEqual([warning]);
  });

  it.each(["enable_web_search: false", "mcp_servers: []", "cwd:", "custom_tools: null"])(
    "does not appear for a feature that is off: %s",
    (line) => {
      expect(parseTeam(yamlWith({ backend: line }), CONTEXT)).toMatchObject({
        ok: true,
        warnings: [],
      });
    },
  );
});

describe("a team of 32 agents that share one text by an alias", () => {
  const teamSharing = (text: string) => {
    const agent = (nth: number) =>
      `  - {id: a${nth}, backend: {type: chatcompletion, model: gpt-5-mini}, system_message: *text}\n`;
    const first = agent(0).replace("*text", `&text "${text}"`);
    return `agents:\n${first}${Array.from({ length: 31 }, (_, nth) => agent(nth + 1)).join("")}`;
  };

  it.each([
    { name: "is accepted if it fits into a row", text: "x".repeat(40_000), errors: [] },
    { name: "is refused if it does not fit", text: "x".repeat(60_000), errors: ["1:1 too_large "] },
    { name: "is measured in bytes", text: "é".repeat(30_000), errors: ["1:1 too_large "] },
  ])("$name", ({ text, errors }) => {
    expect(errorsOf(teamSharing(text))).toEqual(errors);
  });

  it("has an error with its size and the limit", () => {
    expect(detailsOf(parseTeam(teamSharing("x".repeat(60_000)), CONTEXT))[0]).toMatch(
      /has 19\d{5} bytes.*limit is 1500000/,
    );
  });
});
