import { describe, expect, it } from "vitest";
import { parseTeam } from "../../src/config/parse-team";
import {
  CONTEXT,
  coordination,
  detailsOf,
  errorsOf,
  orchestrator,
  teamOf,
  yamlWith,
} from "./teams";

describe("a config is refused, with line and column, for", () => {
  it.each([
    [
      "a misspelled top-level key",
      yamlWith({ top: "orchestrater: {}" }),
      "8:1 unknown_key /orchestrater",
    ],
    [
      "a misspelled agent key",
      yamlWith({ agent: "system_mesage: x" }),
      "3:5 unknown_key /agents/0/system_mesage",
    ],
    [
      "a misspelled parameter",
      yamlWith({ backend: "temprature: 1" }),
      "6:7 unknown_key /agents/0/backend/temprature",
    ],
    [
      "a misspelled setting of the orchestrator",
      orchestrator("max_new_answer_per_agent: 1"),
      "9:3 unknown_key /orchestrator/max_new_answer_per_agent",
    ],
    [
      "a misspelled coordination key",
      coordination("enable_planing_mode: true"),
      "10:5 unknown_key /orchestrator/coordination/enable_planing_mode",
    ],
    [
      "a keyword of the first version",
      yamlWith({ top: "max_rounds: 3" }),
      "8:1 old_keyword /max_rounds",
    ],
    [
      "a feature that is not supported",
      yamlWith({ backend: "mcp_servers: [{name: x}]" }),
      "6:7 not_served /agents/0/backend/mcp_servers",
    ],
    [
      "an unsupported key that a prefix matches",
      coordination("subagent_timeout: 3"),
      "10:5 not_served /orchestrator/coordination/subagent_timeout",
    ],
    [
      "a word for a number",
      orchestrator("max_new_answers_per_agent: many"),
      "9:30 wrong_type /orchestrator/max_new_answers_per_agent",
    ],
    [
      "a number out of range",
      orchestrator("max_new_answers_per_agent: 0"),
      "9:30 out_of_range /orchestrator/max_new_answers_per_agent",
    ],
    [
      "a count that is not a whole number",
      orchestrator("max_new_answers_per_agent: 1.5"),
      "9:30 out_of_range /orchestrator/max_new_answers_per_agent",
    ],
    [
      "an infinite time limit",
      yamlWith({ top: "timeout_settings: {orchestrator_timeout_seconds: .inf}" }),
      "8:50 out_of_range /timeout_settings/orchestrator_timeout_seconds",
    ],
    [
      "a time limit of 0",
      yamlWith({ top: "timeout_settings: {orchestrator_timeout_seconds: 0}" }),
      "8:50 out_of_range /timeout_settings/orchestrator_timeout_seconds",
    ],
    [
      "an unknown voting sensitivity",
      orchestrator("voting_sensitivity: harsh"),
      "9:23 out_of_range /orchestrator/voting_sensitivity",
    ],
    [
      "text for a switch",
      orchestrator("fairness_enabled: maybe"),
      "9:21 wrong_type /orchestrator/fairness_enabled",
    ],
    ["a list for a section", "agents: []\norchestrator: []", "2:15 wrong_type /orchestrator"],
    ["a config without agents", "ui: {}", "1:1 missing "],
    ["an empty text", "", "1:1 missing "],
    ["a list instead of a config", "[]", "1:1 wrong_type "],
    ["a word instead of a config", "hello", "1:1 wrong_type "],
    ["an empty team", "agents: []", "1:9 out_of_range /agents"],
    ["agents that are not a list", "agents: {a: {}}", "1:9 wrong_type /agents"],
    [
      "agents and agent",
      "agent: {id: x, backend: {type: chatcompletion, model: m}}\nagents: []",
      "1:1 not_allowed /agent",
    ],
    ["an agent that is not a mapping", "agents: [x]", "1:10 wrong_type /agents/0"],
    [
      "an agent without an id",
      "agents: [{backend: {type: chatcompletion, model: m}}]",
      "1:10 missing /agents/0",
    ],
    [
      "an id with a slash",
      "agents: [{id: a/b, backend: {type: chatcompletion, model: m}}]",
      "1:15 out_of_range /agents/0/id",
    ],
    [
      "an id that is an inherited property name",
      "agents: [{id: constructor, backend: {type: chatcompletion, model: m}}]",
      "1:15 out_of_range /agents/0/id",
    ],
    [
      "a number as id",
      "agents: [{id: 7, backend: {type: chatcompletion, model: m}}]",
      "1:15 wrong_type /agents/0/id",
    ],
    ["an agent without a backend", "agents: [{id: a}]", "1:10 missing /agents/0/backend"],
    [
      "a backend that is a word",
      "agents: [{id: a, backend: openai}]",
      "1:27 wrong_type /agents/0/backend",
    ],
    [
      "a backend without a type",
      "agents: [{id: a, backend: {model: m}}]",
      "1:27 missing /agents/0/backend",
    ],
    [
      "a backend without type and model",
      "agents: [{id: a, backend: {temperature: 1}}]",
      "1:27 missing /agents/0/backend",
    ],
    [
      "a type that is a number",
      "agents: [{id: a, backend: {type: 7, model: gpt-6-luna}}]",
      "1:34 wrong_type /agents/0/backend/type",
    ],
    [
      "a backend without a model",
      "agents: [{id: a, backend: {type: chatcompletion}}]",
      "1:27 missing /agents/0/backend",
    ],
    [
      "an unknown type",
      "agents: [{id: a, backend: {type: chatcompletions, model: m}}]",
      "1:34 out_of_range /agents/0/backend/type",
    ],
    [
      "a type that is an inherited property name",
      "agents: [{id: a, backend: {type: constructor, model: m}}]",
      "1:34 out_of_range /agents/0/backend/type",
    ],
    [
      "a type that is not supported",
      "agents: [{id: a, backend: {type: claude_code, model: m}}]",
      "1:34 not_served /agents/0/backend/type",
    ],
    [
      "a merge key",
      "agents:\n  - &a {id: a, backend: {type: chatcompletion, model: m}}\n  - {<<: *a, id: b}",
      "3:6 syntax ",
    ],
    ["a key that is a number", "1: x\nagents: []", "1:1 wrong_type /1"],
  ])("%s", (_, source, error) => {
    expect(errorsOf(source)).toContain(error);
  });

  it("two agents with the same id, at the position of the second", () => {
    expect(errorsOf(yamlWith().replace("id: b", "id: a"))).toEqual(["6:9 duplicate /agents/1/id"]);
  });

  it("65 agents, but not 64 agents", () => {
    const team = (count: number) => ({
      agents: Array.from({ length: count }, (_, i) => ({
        id: `a${i}`,
        backend: { type: "chatcompletion", model: "m" },
      })),
    });
    expect(errorsOf(team(65))).toEqual(["null:null out_of_range /agents"]);
    expect(teamOf(team(64)).agents).toHaveLength(64);
  });

  it("all errors at once, in the order of the text", () => {
    const source = yamlWith({
      top: "orchestrator: {voting_sensitivity: harsh}\nmemory: {enabled: true}",
      agent: "colour: red",
    });
    expect(errorsOf(source)).toEqual([
      "3:5 unknown_key /agents/0/colour",
      "9:36 out_of_range /orchestrator/voting_sensitivity",
      "10:1 not_served /memory",
    ]);
  });

  it("a JSON object, with a pointer but no line", () => {
    expect(
      errorsOf({
        agents: [{ id: "a", backend: { type: "chatcompletion", model: "m", "a/b~c": 1 } }],
      }),
    ).toEqual(["null:null unknown_key /agents/0/backend/a~1b~0c"]);
  });
});

describe("an error", () => {
  it.each([
    [
      "names the nearest known key",
      yamlWith({ backend: "temprature: 1" }),
      "Did you mean `temperature`?",
    ],
    [
      "names the modern form of an old keyword",
      yamlWith({ top: "num_agents: 3" }),
      "one entry in `agents` for each agent",
    ],
    [
      "names the unsupported feature",
      yamlWith({ backend: "enable_image_generation: true" }),
      "This team needs generated images, audio, video or files (`enable_image_generation`)",
    ],
    [
      "names the key of Chat Completions for a key of another format",
      yamlWith({ backend: "reasoning: {effort: low}" }),
      "`reasoning_effort`",
    ],
    [
      "counts the entries of a list from 1",
      "agents: [{id: a, backend: {type: openai}}, x]",
      "Entry 2 of agents must be a mapping",
    ],
    ["names a missing backend", "agents: [{id: a}]", "backend is missing"],
    [
      "names the supported types",
      "agents: [{id: a, backend: {model: m}}]",
      "Supported types: openai, claude, gemini",
    ],
    [
      "names the alternative to an unsupported type",
      "agents: [{id: a, backend: {type: claude_code}}]",
      "Use the API of its models",
    ],
  ])("%s", (_, source, words) => {
    expect(detailsOf(parseTeam(source, CONTEXT)).join("\n")).toContain(words);
  });
});
