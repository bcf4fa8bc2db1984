import { describe, expect, it } from "vitest";
import { KEY_NAMES } from "../../../src/providers/hosts";
import { MODEL_GROUPS } from "../../../src/providers/model-rows";
import { BACKEND_TYPES } from "../../../src/providers/registry";
import { providersPage } from "./page";

const page = providersPage();
const rowsWith = (start: string): string[] =>
  page.split("\n").filter((line) => line.startsWith(`| ${start} |`));

describe("the page about providers", () => {
  it("contains every backend type, key and known model", () => {
    for (const type of Object.keys(BACKEND_TYPES))
      expect(rowsWith(`\`${type}\``), type).not.toEqual([]);
    for (const name of KEY_NAMES) expect(page).toContain(`\`${name}\``);
    for (const { rows } of MODEL_GROUPS)
      for (const model of Object.keys(rows)) expect(page).toContain(`| \`${model}\` |`);
  });

  it.each([
    {
      name: "a type with a choice of APIs, its address, its key and its model",
      row: "| `grok` | Grok | Responses API; with `api: chat_completions` Chat Completions | `https://api.x.ai/v1` | `XAI_API_KEY` | `grok-4.7` | web search, x search, code execution | – |",
    },
    {
      name: "a type whose address the operator sets",
      row: "| `azure_openai` | Azure OpenAI | Chat Completions; with `api: responses` Responses API | `AZURE_OPENAI_ENDPOINT` | `AZURE_OPENAI_API_KEY` | required | code execution | – |",
    },
    {
      name: "a local server, which may need no key",
      row: "| `vllm` | vLLM | Chat Completions | `VLLM_BASE_URL`, else `http://localhost:8000/v1` | `VLLM_API_KEY`, if it needs one | required | – | – |",
    },
    {
      name: "a hosted tool without a known price",
      row: "| `enable_code_execution` | `azure_openai` | unknown | 8,000 tokens |",
    },
    {
      name: "a model with higher prices for long prompts, with the day of its prices",
      row: "| OpenAI | `gpt-6.1-terra` | 1,050,000 | 128,000 | $1 | $0.05 | $1.25 | $5 | above 272,000: input × 2, output × 1.5 | 2026-11-10 |",
    },
    {
      name: "a parameter that only some formats support, and the alternative",
      row: "| `stop_sequences` | use `stop` | – | list of texts | use `stop` |",
    },
  ])("shows $name", ({ row }) => {
    expect(page.split("\n")).toContain(row);
  });
});
