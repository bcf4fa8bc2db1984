import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { describeKeys, keysIn } from "../../local/provider-keys";
import { KEY_NAMES, keyReport } from "../../src/providers/registry";

const reportText = (variables: string): string =>
  describeKeys(keyReport(keysIn(variables))).join("\n");

describe("the report of npm start on provider keys", () => {
  it("lists the backend types whose keys are set", () => {
    const text = reportText('ANTHROPIC_API_KEY="sk-ant-secret"\nGEMINI_API_KEY=secret');
    expect(text).toContain(
      "Provider keys are set for: Anthropic Messages (type: claude), Google Gemini (type: gemini).",
    );
    expect(text).toContain('OPENAI_API_KEY="…"');
    expect(text).not.toMatch(/ANTHROPIC_API_KEY|secret"/);
  });

  it("has two lines if no key is set, and names the file to which to add one", () => {
    expect(reportText("").split("\n")).toEqual([
      "No provider key is set in .dev.vars: only local models are available.",
      'To add a key, write a line such as OPENAI_API_KEY="…" into .dev.vars and restart the service. All names: docs/reference/providers.md',
    ]);
  });

  it("names no backend type that needs no key", () => {
    expect(reportText("")).not.toMatch(/ollama|vllm|lmstudio/);
  });

  it("does not ask for a key if every key is set", () => {
    expect(reportText(KEY_NAMES.map((name) => `${name}=x`).join("\n"))).not.toContain("To add one");
  });

  it.each([
    { name: "an empty value", variables: 'OPENAI_API_KEY=""', keys: [] },
    { name: "a comment", variables: '# OPENAI_API_KEY="sk-1"', keys: [] },
    { name: "a variable that is not a key", variables: "OPEN_ACCESS=loopback", keys: [] },
    { name: "a key", variables: "OPENAI_API_KEY=sk-1 # mine", keys: ["OPENAI_API_KEY"] },
  ])("reads $name correctly", ({ variables, keys }) => {
    expect(keysIn(variables)).toEqual(keys);
  });

  it("can name the keys that the example file has", () => {
    const names = [...readFileSync(".dev.vars.example", "utf8").matchAll(/^# ([A-Z_]+)=""$/gm)].map(
      ([, name]) => name,
    );
    expect(names).toEqual(
      expect.arrayContaining(["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"]),
    );
  });
});
