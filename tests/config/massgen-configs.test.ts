import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { checkTeam, type ConfigContext } from "../../src/config/parse-team";
import { KEY_NAMES } from "../../src/providers/hosts";

/** MassGen's own example files, where they lie beside the repository. An operator who has every key and allows nothing private. */
const EXAMPLES = path.resolve("../shared/massgen-configs");
const CONTEXT: ConfigContext = {
  storedKeys: KEY_NAMES,
  allowedOrigins: [],
  variables: { AZURE_OPENAI_ENDPOINT: "https://ours.openai.azure.com" },
};
const names = existsSync(EXAMPLES)
  ? readdirSync(EXAMPLES, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".yaml"))
  : [];

const readExample = (name: string) => readFileSync(path.join(EXAMPLES, name), "utf8");
const check = (name: string, context = CONTEXT) => checkTeam(readExample(name), context);
const NEEDS: Record<string, string[]> = names.length > 0 ? JSON.parse(readExample("needs.json")) : {};

describe.skipIf(names.length === 0)("MassGen's examples [needs ../shared/massgen-configs]", () => {
  it("are the files whose needs are known", () => expect(names.toSorted()).toEqual(Object.keys(NEEDS).toSorted()));

  for (const name of names) {
    it(`${name} runs, or is refused once for each thing it needs`, ({ task }) => {
      const { runnable, errors, refusals } = check(name);
      const needs = refusals.flatMap(({ need }) => need ?? []);
      task.meta.sample = { file: name, needs };
      expect(errors).toEqual([]);
      expect(needs.toSorted()).toEqual(NEEDS[name]);
      expect(runnable).toBe(needs.length === 0);
      for (const { line, detail } of refusals) {
        expect(line).toBeGreaterThan(0);
        expect(detail).toMatch(/\.$/);
      }
    });
  }

  it.each([
    "basic/multi/three_agents_vllm.yaml",
    "basic/multi/two_agents_opensource_lmstudio.yaml",
    "basic/multi/two_qwen_vllm_sglang.yaml",
    "providers/local/lmstudio.yaml",
  ])("run where the operator allows servers of this machine: %s", (name) => {
    expect(check(name, { ...CONTEXT, allowedOrigins: ["http://localhost:*"] })).toMatchObject({ runnable: true });
  });

  it("lose nothing where they run: no warning but about display, research calls, prices and keys", () => {
    const codes = names.filter((name) => check(name).runnable).flatMap((name) => check(name).warnings);
    const others = codes.filter(({ code, pointer }) => code === "no_effect" && !pointer.startsWith("/ui/"));
    expect(others).toEqual([]);
  });
});
