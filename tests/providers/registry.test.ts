import { describe, expect, it } from "vitest";
import { FORMAT_PARAMS } from "../../src/providers/format-params";
import { hostById, UNKNOWN_HOST } from "../../src/providers/hosts";
import { UNKNOWN_MODEL } from "../../src/providers/models";
import {
  BACKEND_TYPES,
  createProvider,
  keyReport,
  modelFacts,
  OPERATOR_VARIABLES,
  type ServedType,
  SERVED_TYPES,
  typesWithTool,
} from "../../src/providers/registry";
import { endpointAt } from "../fakes/endpoint";

const served = SERVED_TYPES.flatMap((type): [string, ServedType][] => {
  const facts = BACKEND_TYPES[type];
  return facts?.served ? [[type, facts]] : [];
});

describe("backend types", () => {
  it.each([
    { type: "openai", format: "openai-responses", host: "openai" },
    { type: "claude", format: "anthropic", host: "anthropic" },
    { type: "gemini", format: "gemini", host: "google" },
    { type: "grok", format: "openai-responses", host: "xai" },
    { type: "azure_openai", format: "openai-chat", host: "azure_openai" },
    { type: "chatcompletion", format: "openai-chat", host: null },
    { type: "nvidia_nim", format: "openai-chat", host: "nvidia" },
    { type: "workers_ai", format: "openai-chat", host: "workers_ai" },
    { type: "lmstudio", format: "openai-chat", host: "lmstudio" },
  ])("serves $type as $format of $host", (row) => {
    const { type, ...facts } = row;
    expect(BACKEND_TYPES[type]).toMatchObject({ served: true, ...facts });
  });

  it.each([
    "claude_code",
    "codex",
    "copilot",
    "gemini_cli",
    "antigravity_cli",
    "ag2",
    "autogen",
    "uitars",
  ])("refuses %s by name, with an alternative", (type) => {
    expect(BACKEND_TYPES[type]).toMatchObject({
      served: false,
      name: expect.any(String),
      instead: expect.stringMatching(/type|agent/),
    });
  });

  it("refer to existing hosts, and each base URL belongs to its host", () => {
    for (const [type, { host, baseUrl }] of served) {
      if (host === null) continue;
      const row = hostById(host);
      expect(row, type).not.toBe(UNKNOWN_HOST);
      const origin = new URL((baseUrl ?? "https://none.example").replaceAll(/[{}]/g, "")).origin;
      const isTheirs = row.origins.includes(origin) || row.keyOptional === true || baseUrl === null;
      expect(isTheirs, `${type} at ${origin}`).toBe(true);
    }
  });

  it("have default models that are listed at their host, except free ones", () => {
    const unlisted = served.filter(
      ([, { model, host }]) => model !== null && modelFacts(model, host ?? "") === UNKNOWN_MODEL,
    );
    expect(unlisted.map(([type]) => type)).toEqual(["nvidia_nim"]);
  });

  it("have default models that accept hosted tools next to functions", () => {
    for (const [type, { model, format }] of served) {
      expect(
        model === null || (FORMAT_PARAMS[format].hostedAlone?.(model) ?? null),
        type,
      ).not.toEqual(expect.any(String));
    }
  });

  it.each([
    { tool: "web_search", types: ["openai", "claude", "gemini", "grok"] },
    { tool: "x_search", types: ["grok"] },
    { tool: "code_execution", types: ["openai", "claude", "gemini", "grok", "azure_openai"] },
  ] as const)("with $tool are $types", ({ tool, types }) =>
    expect(typesWithTool(tool)).toEqual(types),
  );

  it("use these variables of the operator", () => {
    expect([...OPERATOR_VARIABLES].sort()).toEqual([
      "AZURE_OPENAI_API_VERSION",
      "AZURE_OPENAI_ENDPOINT",
      "CLOUDFLARE_ACCOUNT_ID",
      "SGLANG_BASE_URL",
      "VLLM_BASE_URL",
    ]);
  });
});

describe("the report of keys", () => {
  it("lists for each type whether one of its keys is set", () => {
    const report = keyReport(["GEMINI_API_KEY", "XAI_API_KEY"]);
    expect(report.filter(({ set }) => set).map(({ type }) => type)).toEqual(["gemini", "grok"]);
    expect(report.find(({ type }) => type === "gemini")).toEqual({
      type: "gemini",
      name: "Google Gemini",
      keyNames: ["GOOGLE_API_KEY", "GEMINI_API_KEY"],
      set: true,
    });
    expect(report.find(({ type }) => type === "lmstudio")).toMatchObject({
      keyNames: [],
      set: false,
    });
    expect(report.find(({ type }) => type === "chatcompletion")).toBeUndefined();
  });
});

describe("a provider", () => {
  it("has the name of its host", () => {
    expect(createProvider("openai-chat", endpointAt("https://api.groq.com/openai/v1")).id).toBe(
      "groq",
    );
  });
});
