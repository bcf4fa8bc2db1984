import { describe, expect, it } from "vitest";
import { checkTeam, type ConfigContext } from "../../src/config/parse-team";
import { KEY_NAMES } from "../../src/providers/hosts";
import { BAD_INPUTS, BOMB, PATHS } from "./bad-inputs";
import { ALL_SERVED, teamOf } from "./teams";
import { cpuMs } from "../fakes/cpu-time";

/** A deployment whose operator has set every key and allows no private address. */
const CONTEXT: ConfigContext = { storedKeys: KEY_NAMES, allowedOrigins: [], variables: {} };

describe("a config is refused for", () => {
  it.for(BAD_INPUTS)("$row $name", ({ source, code, pointer }, { task }) => {
    task.meta.refusal = code;
    const { runnable, errors, refusals } = checkTeam(source, CONTEXT);
    const problems = [...errors, ...refusals];
    expect(runnable).toBe(false);
    expect(problems.map((problem) => problem.code)).toContain(code);
    if (pointer !== undefined)
      expect(problems.map((problem) => problem.pointer)).toContain(pointer);
    for (const { detail } of problems) expect(detail.length).toBeLessThan(1_000);
    expect("admin" in {}).toBe(false);
  });
});

it("C1 an alias bomb takes less than 50 ms and 5 MB", () => {
  checkTeam(BOMB, CONTEXT);
  const [heap, startedAt] = [process.memoryUsage().heapUsed, cpuMs()];
  expect(checkTeam(BOMB, CONTEXT).runnable).toBe(false);
  expect(cpuMs() - startedAt).toBeLessThan(50);
  expect(process.memoryUsage().heapUsed - heap).toBeLessThan(5_000_000);
});

describe("C5 text that looks like the name of a secret is not replaced", () => {
  const NAMES = [
    "${OPENAI_API_KEY}",
    "${env:OPENAI_API_KEY}",
    "{{OPENAI_API_KEY}}",
    "$OPENAI_API_KEY",
    "%OPENAI_API_KEY%",
  ];

  it.each(NAMES)("in any text field: %s", (name) => {
    // A model's name must not contain `%`, because it may become part of a URL.
    const model = name.replaceAll("%", "");
    const agent = {
      id: "a",
      system_message: name,
      backend: {
        type: "chatcompletion",
        model,
        api_key: "own",
        user: name,
        extra_body: { note: name, deep: [{ er: name }] },
      },
    };
    const coordination = {
      enable_planning_mode: true,
      planning_mode_instruction: name,
      persona_generator: { enabled: true, persona_guidelines: name },
    };
    const team = teamOf({ agent, orchestrator: { coordination } }, CONTEXT);
    expect(team.agents[0]).toMatchObject({
      systemMessage: name,
      backend: {
        model,
        key: { from: "literal", value: "own" },
        params: { user: name, extra_body: { note: name, deep: [{ er: name }] } },
      },
    });
    expect([team.planningInstruction, team.personas?.guidelines]).toEqual([name, name]);
  });
});

describe("C8 a path of a user's machine", () => {
  it.each(PATHS)("only enables the workspace, and has a warning: cwd: %s", (path) => {
    const source = `agent: {id: a, backend: {type: claude, cwd: "${path}"}}`;
    const { runnable, warnings } = checkTeam(source, { ...CONTEXT, served: ALL_SERVED });
    expect(runnable).toBe(true);
    expect(warnings).toMatchObject([{ code: "no_effect", pointer: "/agent/backend/cwd" }]);
  });
});

it("the number of reported errors is limited", () => {
  const source = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, index) => [`strange_${index}`, index]),
  );
  expect(checkTeam(source, CONTEXT).errors.length).toBeLessThanOrEqual(100);
});

it("errors quote long text of the config only in part", () => {
  const long = "x".repeat(100_000);
  const sources = [
    { [long]: 1 },
    { agent: { id: long, backend: { type: long } } },
    { agent: { id: "a", backend: { type: "claude", mcp_servers: { [long]: { command: "x" } } } } },
    { agent: { id: "a", backend: { type: "claude", [`command_line_${long}`]: 1, cwd: long } } },
  ];
  for (const source of sources) {
    const { errors, refusals, warnings } = checkTeam(source, CONTEXT);
    for (const { detail } of [...errors, ...refusals, ...warnings])
      expect(detail.length).toBeLessThan(1_000);
  }
});
