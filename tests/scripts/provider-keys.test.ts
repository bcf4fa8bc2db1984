import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { describeKeys, keysIn } from "../../scripts/provider-keys";
import { variableFiles } from "../../scripts/start-arguments";
import { KEY_NAMES, keyReport } from "../../src/providers/registry";

const told = (variables: string): string => describeKeys(keyReport(keysIn(variables))).join("\n");

describe("what npm start says of provider keys", () => {
  it("names those that are set, and the types they open", () => {
    const text = told('ANTHROPIC_API_KEY="sk-ant-secret"\nGEMINI_API_KEY=secret');
    expect(text).toContain("Provider keys are set for: Anthropic Messages (type: claude), Google Gemini (type: gemini).");
    expect(text).toContain("openai OPENAI_API_KEY");
    expect(text).not.toMatch(/ANTHROPIC_API_KEY|secret"/);
  });

  it("says which are missing, in which file and with which command to set them", () => {
    const text = told("");
    expect(text).toContain("No provider key is set in .dev.vars");
    for (const pair of ["openai OPENAI_API_KEY", "claude ANTHROPIC_API_KEY", "gemini GOOGLE_API_KEY", "grok XAI_API_KEY"])
      expect(text).toContain(pair);
    expect(text).toContain('OPENAI_API_KEY="…" in .dev.vars');
    expect(text).toContain("npx wrangler secret put OPENAI_API_KEY");
  });

  it("asks for no key where none is needed", () => {
    expect(told("")).not.toMatch(/ollama|vllm|lmstudio/);
  });

  it("is short when every key is there", () => {
    expect(told(KEY_NAMES.map((name) => `${name}=x`).join("\n"))).not.toContain("Not set");
  });

  it.each([
    { name: "an empty value", variables: 'OPENAI_API_KEY=""', keys: [] },
    { name: "a comment", variables: '# OPENAI_API_KEY="sk-1"', keys: [] },
    { name: "a variable that is no key", variables: "OPEN_ACCESS=loopback", keys: [] },
    { name: "a key", variables: "OPENAI_API_KEY=sk-1 # mine", keys: ["OPENAI_API_KEY"] },
  ])("takes $name for what it is", ({ variables, keys }) => {
    expect(keysIn(variables)).toEqual(keys);
  });

  it.each([
    { args: [], files: [".dev.vars"] },
    { args: ["--env-file", "mine", "--env-file=yours"], files: ["mine", "yours"] },
  ])("reads $files with $args", ({ args, files }) => {
    expect(variableFiles(args)).toEqual(files);
  });

  it("finds the usual keys in the example that a fresh clone starts with", () => {
    const names = [...readFileSync(".dev.vars.example", "utf8").matchAll(/^# ([A-Z_]+)=""$/gm)].map(([, name]) => name);
    expect(names).toEqual(expect.arrayContaining(["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"]));
  });
});
