import { describe, expect, it } from "vitest";
import { describeTeam, teamSource, titleOf } from "../../src/api/teams";

const NOTHING = { storedKeys: [], allowedOrigins: [], variables: {} };
const agent = (id: string, backend: string) => `  - id: ${id}\n    backend: {${backend}}\n`;

describe("the title of a config", () => {
  it.each([
    {
      name: "is its first comment",
      yaml: "# Three of a kind.\nagents: []\n",
      title: "Three of a kind.",
    },
    {
      name: "is a paragraph in one line",
      yaml: "# Three of\n# a kind.\n#\n# More.\nagents: []\n",
      title: "Three of a kind.",
    },
    {
      name: "is not what editors read",
      yaml: "# yaml-language-server: $schema=../x.json\n# A team.\na: 1\n",
      title: "A team.",
    },
    {
      name: "begins behind empty comments",
      yaml: "#\n# A team.\n\n# Not this.\n",
      title: "A team.",
    },
    {
      name: "is none without a comment at the beginning",
      yaml: "agents: [] # not this\n",
      title: "",
    },
    { name: "is none of an empty text", yaml: "", title: "" },
  ])("$name", ({ yaml, title }) => {
    expect(titleOf(yaml)).toBe(title);
  });
});

describe("a team by its name", () => {
  const teams = { demo: "agents: []" };
  const alone = (type: string, model: string) => ({
    agent: { id: "agent", backend: { type, model } },
  });
  it.each([
    { name: "demo", is: "the one on offer", source: "agents: []" },
    { name: "massgen/demo", is: "the one on offer", source: "agents: []" },
    {
      name: "claude-sonnet-5-5",
      is: "the model alone",
      source: alone("claude", "claude-sonnet-5-5"),
    },
    {
      name: "massgen/model:gpt-6-luna",
      is: "the model alone",
      source: alone("openai", "gpt-6-luna"),
    },
  ])("$name is $is", ({ name, source }) => {
    expect(teamSource(teams, { config: name })).toEqual({ name, source });
  });
  it.each(["nobody", "constructor", "massgen/nobody", "massgen/constructor", "massgen/", " "])(
    "`%s` is none",
    (name) => {
      expect(() => teamSource(teams, { config: name })).toThrow("On offer: demo, and any model");
    },
  );
});

describe("a team on offer", () => {
  const yaml = `# Two.\nagents:\n${agent("a", "type: openai, model: gpt-6.1-terra")}${agent("b", "type: gemini, model: gemini-3.8-flash")}`;

  it("tells who is in it and which keys it needs, also where none is set", () => {
    const entry = describeTeam("two", yaml, NOTHING);
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

  it("is runnable once the keys are set, by whichever of their names", () => {
    const entry = describeTeam("two", yaml, {
      ...NOTHING,
      storedKeys: ["OPENAI_API_KEY", "GOOGLE_API_KEY"],
    });
    expect([entry.runnable, entry.missing, entry.keys.map(({ set }) => set)]).toEqual([
      true,
      [],
      [true, true],
    ]);
  });

  it("that cannot be read says why", () => {
    const entry = describeTeam("broken", "agents: [", NOTHING);
    expect([entry.runnable, entry.agents, entry.title]).toEqual([false, [], "broken"]);
    expect(entry.missing[0]?.code).toBe("syntax");
  });
});
