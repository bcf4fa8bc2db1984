import { describe, expect, it } from "vitest";
import { describeTeam, teamSource, titleOf } from "../../../src/api/configs/teams";

const EMPTY_CONTEXT = { storedKeys: [], allowedOrigins: [], variables: {} };
const agent = (id: string, backend: string) => `  - id: ${id}\n    backend: {${backend}}\n`;

describe("the title of a config", () => {
  it.each([
    {
      name: "is the first comment",
      yaml: "# Three of a kind.\nagents: []\n",
      title: "Three of a kind.",
    },
    {
      name: "has the lines of the first paragraph in one line",
      yaml: "# Three of\n# a kind.\n#\n# More.\nagents: []\n",
      title: "Three of a kind.",
    },
    {
      name: "does not include a comment for editors",
      yaml: "# yaml-language-server: $schema=../x.json\n# A team.\na: 1\n",
      title: "A team.",
    },
    {
      name: "starts after empty comments",
      yaml: "#\n# A team.\n\n# Not this.\n",
      title: "A team.",
    },
    {
      name: "is empty without a comment at the start",
      yaml: "agents: [] # not this\n",
      title: "",
    },
    { name: "is empty for an empty text", yaml: "", title: "" },
  ])("$name", ({ yaml, title }) => {
    expect(titleOf(yaml)).toBe(title);
  });
});

describe("a team by its name", () => {
  const teams = { demo: "agents: []" };
  const modelAlone = (type: string, model: string) => ({
    agent: { id: "agent", backend: { type, model } },
  });
  it.each([
    { name: "demo", kind: "an included team", source: "agents: []" },
    { name: "massgen/demo", kind: "an included team", source: "agents: []" },
    {
      name: "claude-sonnet-5-5",
      kind: "a team of only this model",
      source: modelAlone("claude", "claude-sonnet-5-5"),
    },
    {
      name: "massgen/model:gpt-6-luna",
      kind: "a team of only this model",
      source: modelAlone("openai", "gpt-6-luna"),
    },
  ])("$name is $kind", ({ name, source }) => {
    expect(teamSource(teams, { config: name })).toEqual({ name, source });
  });
  it.each(["nobody", "constructor", "massgen/nobody", "massgen/constructor", "massgen/", " "])(
    "`%s` is unknown",
    (name) => {
      expect(() => teamSource(teams, { config: name })).toThrow(
        "Included teams: demo. Or use the name of a model",
      );
    },
  );
});

describe("an included team", () => {
  const yaml = `# Two.\nagents:\n${agent("a", "type: openai, model: gpt-6.1-terra")}${agent("b", "type: gemini, model: gemini-3.8-flash")}`;

  it("lists its agents and the keys that it needs, even if no key is set", () => {
    const entry = describeTeam("two", yaml, EMPTY_CONTEXT);
    expect(entry).toMatchObject({
      name: "two",
      title: "Two.",
      agents: [
        { id: "a", type: "openai", model: "gpt-6.1-terra" },
        { id: "b", type: "gemini", model: "gemini-3.8-flash" },
      ],
      keys: [
        { names: ["OPENAI_API_KEY"], set: false },
        { names: expect.arrayContaining(["GEMINI_API_KEY", "GOOGLE_API_KEY"]), set: false },
      ],
      runnable: false,
    });
    expect(entry.missing.map(({ code }) => code)).toEqual(["key_not_set", "key_not_set"]);
  });

  it("is runnable if every key is set under one of its names", () => {
    const entry = describeTeam("two", yaml, {
      ...EMPTY_CONTEXT,
      storedKeys: ["OPENAI_API_KEY", "GOOGLE_API_KEY"],
    });
    expect([entry.runnable, entry.missing, entry.keys.map(({ set }) => set)]).toEqual([
      true,
      [],
      [true, true],
    ]);
  });

  it("that cannot be parsed is listed with the reason", () => {
    const entry = describeTeam("broken", "agents: [", EMPTY_CONTEXT);
    expect([entry.runnable, entry.agents, entry.title]).toEqual([false, [], "broken"]);
    expect(entry.missing[0]?.code).toBe("syntax");
  });
});
