import { describe, expect, it } from "vitest";
import { parseTeam } from "../../src/config/parse-team";
import { teamForModel } from "../../src/config/team-for-model";
import { MODEL_GROUPS } from "../../src/providers/model-rows";
import { typeOfModel } from "../../src/providers/models";
import { BACKEND_TYPES } from "../../src/providers/registry";
import { FULL_CONTEXT } from "./teams";

describe("a name of a team or a model", () => {
  it.each([
    ["gpt-6-luna", "openai"],
    ["o4-mini", "openai"],
    ["claude-sonnet-5-5", "claude"],
    ["gemini-3.8-flash", "gemini"],
    ["grok-4.7", "grok"],
    [" glm-5.3 ", "zai"],
    ["@cf/openai/gpt-oss-120b", "workers_ai"],
    ["massgen/model:claude-sonnet-5-5", "claude"],
  ])("%s selects one agent of type %s, and the team is valid", (name, type) => {
    const team = teamForModel(name);
    const model = name.trim().replace("massgen/model:", "");
    expect(team).toEqual({
      found: "config",
      config: { agent: { id: "agent", backend: { type, model } } },
    });
    expect(parseTeam(team.found === "config" ? team.config : null, FULL_CONTEXT)).toMatchObject({
      ok: true,
      team: { rules: { skip_coordination: true } },
    });
  });

  it.each([
    { name: "massgen/demo", expected: { found: "team", name: "demo" } },
    { name: "massgen/one-provider", expected: { found: "team", name: "one-provider" } },
  ])("$name selects the included team of this name", ({ name, expected }) =>
    expect(teamForModel(name)).toEqual(expected),
  );

  it("uses the given backend type, for any model name", () => {
    expect(teamForModel("claude-sonnet-5-5", "openrouter")).toMatchObject({
      config: { agent: { backend: { type: "openrouter" } } },
    });
    expect(teamForModel("massgen/model:gpt-oss-120b", "groq")).toMatchObject({
      config: { agent: { backend: { type: "groq" } } },
    });
  });

  it.each([
    { name: "gpt-oss-120b", message: "Also give a backend type: openai, claude" },
    { name: "llama-3.3-70b", message: "Also give a backend type" },
    { name: "massgen/", message: "such as `massgen/demo`" },
    { name: "massgen/model:", message: "missing" },
    { name: "  ", message: "missing" },
  ])("is refused with advice: '$name'", ({ name, message }) => {
    expect(teamForModel(name)).toEqual({
      found: "unknown",
      detail: expect.stringContaining(message),
    });
  });

  it("may have an unsupported type, which only the config check refuses", () => {
    const team = teamForModel("m", "claude_code");
    const result = parseTeam(team.found === "config" ? team.config : null, FULL_CONTEXT);
    expect(result.ok ? [] : result.errors).toMatchObject([
      { code: "not_served", need: "claude_code" },
    ]);
  });
});

it("the name of a model that only one provider serves implies the backend of this provider", () => {
  const closed = MODEL_GROUPS.filter((group) => group.closed);
  for (const { host, rows } of closed) {
    for (const model of Object.keys(rows)) {
      const type = typeOfModel(model);
      const facts = type === null ? undefined : BACKEND_TYPES[type];
      expect(facts?.served && facts.host, model).toBe(host);
    }
  }
});
