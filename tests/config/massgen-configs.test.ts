import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parseTeam } from "../../src/config/parse-team";
import { KEY_NAMES } from "../../src/providers/hosts";

/** MassGen's own example files, where they lie beside the repository. An operator who has every key and allows nothing private. */
const EXAMPLES = path.resolve("../shared/massgen-configs");
const CONTEXT = {
  storedKeys: KEY_NAMES,
  allowedOrigins: [],
  variables: { AZURE_OPENAI_ENDPOINT: "https://ours.openai.azure.com" },
};
const names = existsSync(EXAMPLES)
  ? readdirSync(EXAMPLES, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".yaml"))
  : [];

const readExample = (name: string) => readFileSync(path.join(EXAMPLES, name), "utf8");
const parse = (name: string) => parseTeam(readExample(name), CONTEXT);

describe.skipIf(names.length === 0)("MassGen's examples [needs ../shared/massgen-configs]", () => {
  it("are many", () => expect(names.length).toBeGreaterThan(50));

  it.each(names)("%s is a team, or refused by name with its place", (name) => {
    const result = parse(name);
    if (result.ok) return expect(result.team.agents.length).toBeGreaterThan(0);
    for (const error of result.errors) {
      expect(error.line, JSON.stringify(error)).toBeGreaterThan(0);
      expect(error.detail).not.toBe("");
    }
    return expect(result.errors.length).toBeGreaterThan(0);
  });

  it.each([
    "basic/multi/gemini_gpt5nano_claude.yaml",
    "basic/multi/geminicode_4o_claude.yaml",
    "basic/multi/glm_gemini_claude.yaml",
    "basic/single/single_agent.yaml",
    "basic/single/single_gptoss120b.yaml",
    "providers/azure/azure_openai_single.yaml",
    "providers/openai/gpt5.yaml",
    "teams/research/research_team.yaml",
  ])("run as they are where they need nothing but providers: %s", (name) => {
    expect(parse(name)).toMatchObject({ ok: true });
  });

  it.each([
    "basic/multi/three_agents_vllm.yaml",
    "basic/multi/two_agents_opensource_lmstudio.yaml",
    "basic/multi/two_qwen_vllm_sglang.yaml",
    "providers/local/lmstudio.yaml",
  ])("run where the operator allows servers of this machine: %s", (name) => {
    const result = parseTeam(readExample(name), { ...CONTEXT, allowedOrigins: ["http://localhost:*"] });
    expect(result.ok ? [] : result.errors).toEqual([]);
  });

  it("need what is not here yet wherever they do not run, and nothing where they do", () => {
    const needs: Record<string, string[]> = JSON.parse(readExample("needs.json"));
    const refused = names.filter((name) => !parse(name).ok);
    expect(refused).toEqual(names.filter((name) => needs[name]?.length !== 0));
  });

  it("hold no key that MassGen knows and this service does not, but the ones it never had", () => {
    const unknown = names.flatMap((name) => {
      const result = parse(name);
      return result.ok
        ? []
        : result.errors.filter((error) => error.code === "unknown_key").map((error) => `${name} ${error.pointer}`);
    });
    expect(unknown).toEqual([]);
  });
});
