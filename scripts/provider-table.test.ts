import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { withTables } from "./provider-tables/document";
import { table } from "./provider-tables/markdown";
import { KEY_NAMES } from "../src/providers/hosts";
import { MODEL_GROUPS } from "../src/providers/model-rows";
import { BACKEND_TYPES } from "../src/providers/registry";

const document = readFileSync("docs/providers.md", "utf8");
const rowsWith = (start: string): string[] =>
  document.split("\n").filter((line) => line.startsWith(`| ${start} |`));

describe("the tables of docs/providers.md", () => {
  it("say what the data says", () => {
    expect(
      withTables(document) === document,
      "docs/providers.md is out of date: npm run providers:table",
    ).toBe(true);
  });

  it("have every backend type, key and known model", () => {
    for (const type of Object.keys(BACKEND_TYPES))
      expect(rowsWith(`\`${type}\``), type).not.toEqual([]);
    for (const name of KEY_NAMES) expect(document).toContain(`\`${name}\``);
    for (const { rows } of MODEL_GROUPS)
      for (const model of Object.keys(rows)) expect(document).toContain(`| \`${model}\` |`);
  });

  it.each([
    {
      name: "a type with a choice of APIs, where it is, its key and its model",
      row: "| `grok` | Grok | Responses API; with `api: chat_completions` Chat Completions | `https://api.x.ai/v1` | `XAI_API_KEY` | `grok-4.7` | web search, x search, code execution | – |",
    },
    {
      name: "a type whose address the operator names",
      row: "| `azure_openai` | Azure OpenAI | Chat Completions; with `api: responses` Responses API | `AZURE_OPENAI_ENDPOINT` | `AZURE_OPENAI_API_KEY` | must be written | code execution | – |",
    },
    {
      name: "a server of one's own, which may want no key",
      row: "| `vllm` | vLLM | Chat Completions | `VLLM_BASE_URL`, else `http://localhost:8000/v1` | `VLLM_API_KEY`, if it wants one | must be written | – | – |",
    },
    {
      name: "a hosted tool without a known price",
      row: "| `enable_code_execution` | `azure_openai` | not known | 8,000 tokens |",
    },
    {
      name: "a model whose long prompts cost more, with the day of its prices",
      row: "| OpenAI | `gpt-6.1-terra` | 1,050,000 | 128,000 | $1 | $0.05 | $1.25 | $5 | above 272,000: input × 2, output × 1.5 | 2026-11-10 |",
    },
    {
      name: "a parameter that some formats take, and what the others want instead",
      row: "| `stop_sequences` | no: write `stop` | no: leave it out: this API has no stop sequences | list of texts | no: say stop |",
    },
  ])("show $name", ({ row }) => {
    expect(document.split("\n")).toContain(row);
  });
});

describe("making the tables", () => {
  it("keeps what is written above them and replaces everything below", () => {
    const [text = ""] = document.split("<!-- From here on");
    const stale = document.replace("$0.014", "$9");
    expect(withTables(stale)).toBe(document);
    expect(withTables(document.replace(text, "# Another text\n\n"))).toMatch(
      /^# Another text\n\n<!-- From here on/,
    );
  });

  it("refuses a document without a place for them, and says how to make one", () => {
    expect(() => withTables("# Providers\n")).toThrow(/no place.*\n<!-- From here on/);
  });

  it("lets no text break a row, and marks an empty cell", () => {
    expect(
      table(
        ["a", "b"],
        [
          ["x | y", "one\ntwo"],
          ["", "z"],
        ],
      ),
    ).toBe("| a | b |\n|---|---|\n| x \\| y | one two |\n| – | z |");
  });
});
