import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { describeKeys, keysIn } from "../../local/provider-keys";
import { KEY_NAMES, keyReport } from "../../src/providers/registry";

const reportText = (variables: string): string =>
  describeKeys(keyReport(keysIn(variables))).join("\n");

describe("the report of npm start on provider keys", () => {
  it("lists the set keys, and their backend types", () => {
    const text = reportText('ANTHROPIC_API_KEY="sk-ant-secret"\nGEMINI_API_KEY=secret');
    expect(text).toContain(
      "Provider keys are set for: Anthropic Messages (type: claude), Google Gemini (type: gemini).",
    );
    expect(text).toContain('OPENAI_API_KEY="…"');
    expect(text).not.toMatch(/ANTHROPIC_API_KEY|secret"/);
  });

  it("is two lines if none is set, with the file to add one", () => {
    expect(reportText("").split("\n")).toEqual([
      "No provider key is set in .dev.vars: only local models are available.",
      'To add a key, write a line such as OPENAI_API_KEY="…" into .dev.vars and restart the service. All names: docs/reference/providers.md',
    ]);
  });

  it("requests no key if none is needed", () => {
    expect(reportText("")).not.toMatch(/ollama|vllm|lmstudio/);
  });

  it("is short when every key is set", () => {
    expect(reportText(KEY_NAMES.map((name) => `${name}=x`).join("\n"))).not.toContain("To add one");
  });

  it.each([
    { name: "an empty value", variables: 'OPENAI_API_KEY=""', keys: [] },
    { name: "a comment", variables: '# OPENAI_API_KEY="sk-1"', keys: [] },
    { name: "a variable that is no key", variables: "OPEN_ACCESS=loopback", keys: [] },
    { name: "a key", variables: "OPENAI_API_KEY=sk-1 # mine", keys: ["OPENAI_API_KEY"] },
  ])("reads $name correctly", ({ variables, keys }) => {
    expect(keysIn(variables)).toEqual(keys);
  });

  it("finds the usual keys in the example of a fresh clone", () => {
    const names = [...readFileSync(".dev.vars.example", "utf8").matchAll(/^# ([A-Z_]+)=""$/gm)].map(
      ([, name]) => name,
    );
    expect(names).toEqual(
      expect.arrayContaining(["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"]),
    );
  });
});
