import { describe, expect, it } from "vitest";
import { checkTeam } from "../../src/config/parse-team";
import { FULL_CONTEXT, teamOf, warningsOf } from "./teams";

const team = (orchestrator: string, agents = 2, top = "") =>
  `agents:\n${Array.from({ length: agents }, (_, nth) => `  - {id: a${nth}, backend: {type: claude}}`).join("\n")}\norchestrator: {${orchestrator}}\n${top}`;
const needs = (source: unknown) =>
  checkTeam(source, FULL_CONTEXT).refusals.map(({ need, pointer }) => `${need} ${pointer}`);
const errors = (source: unknown) =>
  checkTeam(source, FULL_CONTEXT).errors.map(({ code, pointer }) => `${code} ${pointer}`);

describe("memory (section C)", () => {
  it.each([
    {
      memory: "{conversation_memory: {enabled: true}, persistent_memory: {enabled: false}}",
      isRefused: false,
    },
    { memory: "{enabled: true, conversation_memory: {enabled: true}}", isRefused: false },
    {
      memory:
        "{enabled: true, persistent_memory: {enabled: false}, compression: {trigger_threshold: 0.75}}",
      isRefused: false,
    },
    {
      memory: "{conversation_memory: {enabled: true}, persistent_memory: {enabled: true}}",
      isRefused: true,
    },
    { memory: "{persistent_memory: {on_disk: true}}", isRefused: true },
    { memory: "{enabled: true}", isRefused: true },
    { memory: "{enabled: false, persistent_memory: {enabled: true}}", isRefused: false },
  ])("within a session is supported, other memory is refused: $memory", ({ memory, isRefused }) => {
    expect(needs(team("", 1, `memory: ${memory}`))).toEqual(
      isRefused ? ["persistent_memory /memory"] : [],
    );
    expect(needs(`agent: {id: a, backend: {type: claude}, memory: ${memory}}`)).toEqual(
      isRefused ? ["persistent_memory /agent/memory"] : [],
    );
  });
});

it.each(["", "enabled: true, "])(
  "a warning states that a session's turns are always remembered (section C): %s",
  (before) => {
    const memory = `memory: {${before}conversation_memory: {enabled: false}}`;
    const message =
      "`conversation_memory` cannot be switched off: agents always remember the turns of their session.";
    expect(warningsOf(team("", 1, memory))).toEqual([
      `no_effect /memory/conversation_memory: ${message}`,
    ]);
    expect(warningsOf(team("", 1, "memory: {conversation_memory: {enabled: true}}"))).toEqual([]);
  },
);

describe("rules of MassGen's quick mode (section C)", () => {
  it.each([
    { key: "final_answer_strategy: winner_reuse", rules: { reuse_winning_answer: true } },
    { key: "final_answer_strategy: winner_present", rules: {} },
    { key: "skip_final_presentation: true", rules: { reuse_winning_answer: true } },
    { key: "disable_injection: true", rules: { disable_injection: true } },
    {
      key: "disable_injection: false, skip_final_presentation: false, skip_voting: false",
      rules: {},
    },
  ])("are obeyed: $key", ({ key, rules }) => {
    const plain = teamOf(team(""), FULL_CONTEXT).rules;
    expect(teamOf(team(key), FULL_CONTEXT).rules).toEqual({ ...plain, ...rules });
    expect(warningsOf(team(key))).toEqual([]);
  });

  it("let a single agent answer without a vote, and refuse a team without votes by name of the setting", () => {
    const alone = team("skip_voting: true", 1, "ui: {use_orchestrator_for_single_agent: true}");
    expect(teamOf(alone, FULL_CONTEXT).rules.skip_coordination).toBe(true);
    expect(needs(team("skip_voting: true"))).toEqual(["no_votes /orchestrator/skip_voting"]);
    expect(needs(team("skip_voting: true, skip_coordination_rounds: true"))).toEqual([]);
  });

  it.each([
    {
      key: "coordination: {enable_planning_mode: true}",
      message: "planned calls would never be made",
    },
    {
      key: "context_paths: [{path: site, permission: write}]",
      message: "no agent would write into the contexts",
    },
  ])("are errors if only a presenter would follow them: $key", ({ key, message }) => {
    const found = checkTeam(team(`skip_final_presentation: true, ${key}`), FULL_CONTEXT).errors;
    expect(found).toMatchObject([
      { code: "not_allowed", pointer: "/orchestrator/skip_final_presentation" },
    ]);
    expect(found[0]?.detail).toContain(message);
  });

  it("are refused if they are not supported", () => {
    expect(needs(team("final_answer_strategy: synthesize"))).toEqual([
      "other_coordination /orchestrator/final_answer_strategy",
    ]);
  });
});

describe("voting sensitivities that are not supported (section C)", () => {
  it.each(["checklist_gated", "checklist_scored", "checklist", "roi_balanced", "sequential"])(
    "are refused by name: %s",
    (word) => {
      expect(needs(team(`voting_sensitivity: ${word}`))).toEqual([
        "checklists /orchestrator/voting_sensitivity",
      ]);
      expect(needs(`agent: {id: a, backend: {type: claude}, voting_sensitivity: ${word}}`)).toEqual(
        ["checklists /agent/voting_sensitivity"],
      );
    },
  );

  it("an unknown word is still an error", () =>
    expect(errors(team("voting_sensitivity: strickt"))).toEqual([
      "out_of_range /orchestrator/voting_sensitivity",
    ]));
});

describe("to-do lists (enable_agent_task_planning)", () => {
  const coordination = (more: string) => team(`coordination: {${more}}`);
  it("give all agents files and the tools, with the given limit of tasks", () => {
    const { agents, rules } = teamOf(
      coordination("enable_agent_task_planning: true, max_tasks_per_plan: 7"),
      FULL_CONTEXT,
    );
    expect(agents.map(({ workspace }) => workspace?.tasks)).toEqual([7, 7]);
    expect(rules.agents[0]?.tools.map(({ name }) => name)).toContain("create_task_plan");
    expect(
      teamOf(coordination("enable_agent_task_planning: true"), FULL_CONTEXT).agents[0]?.workspace
        ?.tasks,
    ).toBe(10);
    expect(teamOf(team(""), FULL_CONTEXT).agents[0]).not.toHaveProperty("workspace");
  });

  it("reserve the names of their tools", () => {
    const own =
      "agents: [{id: a, backend: {type: claude, custom_tools: {add_task: {url: 'https://api.weather.net/a', description: d}}}}]";
    expect(errors(own)).toEqual([]);
    expect(
      errors(`${own}\norchestrator: {coordination: {enable_agent_task_planning: true}}`),
    ).toEqual(["not_allowed /agents/0/backend/custom_tools"]);
  });

  it("plans for the whole task are refused by name", () =>
    expect(needs(coordination("plan_depth: deep"))).toEqual([
      "task_plans /orchestrator/coordination/plan_depth",
    ]));
});

describe("further settings (section C)", () => {
  it("a tool for computer use is refused, because the service has no screen (F5)", () => {
    const tool =
      "{name: [b], category: automation, path: massgen/tool/_browser_automation/browser_automation_tool.py, function: [b]}";
    expect(needs(`agent: {id: a, backend: {type: claude, custom_tools: [${tool}]}}`)).toEqual([
      "computer_use /agent/backend/custom_tools",
    ]);
  });

  it("an unknown backend type is a wrong value, not an unknown key (F8)", () =>
    expect(errors("agent: {id: a, backend: {type: opnai}}")).toEqual([
      "out_of_range /agent/backend/type",
    ]));

  it.each(["'1'", "'0'", "'42'"])(
    "an id that would be sorted before others in results is refused: %s (F8)",
    (id) =>
      expect(errors(`agent: {id: ${id}, backend: {type: claude}}`)).toEqual([
        "out_of_range /agent/id",
      ]),
  );

  it("an id with leading zeros keeps its place, so it is accepted (F8)", () =>
    expect(errors("agent: {id: '01', backend: {type: claude}}")).toEqual([]));
});
