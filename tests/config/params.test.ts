import { describe, expect, it } from "vitest";
import { parseTeam } from "../../src/config/parse-team";
import { detailsOf, errorsOf, FULL_CONTEXT, teamOf, teamWith } from "./teams";

const paramsOf = (backend: string) =>
  teamOf(teamWith(backend), FULL_CONTEXT).agents[0]?.backend.params;
const messagesFor = (backend: string) =>
  detailsOf(parseTeam(teamWith(backend), FULL_CONTEXT)).join("\n");

describe("parameters of a wire format are", () => {
  it.each([
    {
      backend: "type: openai\nreasoning: {effort: low, summary: auto}",
      params: { reasoning: { effort: "low", summary: "auto" } },
    },
    { backend: "type: openai\ntext: {verbosity: low}", params: { text: { verbosity: "low" } } },
    { backend: "type: claude\nmodel: claude-haiku-4-5\ntop_k: 5", params: { top_k: 5 } },
    { backend: "type: gemini\nthinking_level: low", params: { thinking_level: "low" } },
    {
      backend: "type: gemini\nsafety_settings: {HARM_CATEGORY_HARASSMENT: BLOCK_NONE}",
      params: { safety_settings: { HARM_CATEGORY_HARASSMENT: "BLOCK_NONE" } },
    },
    { backend: "type: groq\nreasoning_effort: max", params: { reasoning_effort: "max" } },
    {
      backend: "type: sglang\nmodel: m\nseparate_reasoning: true",
      params: { separate_reasoning: true },
    },
  ])("accepted: $backend", ({ backend, params }) => expect(paramsOf(backend)).toEqual(params));

  it.each([
    { backend: "type: claude\nmax_tokens: 900", cap: 900 },
    { backend: "type: openai\nmax_tokens: 900\nmax_output_tokens: 800", cap: 800 },
    { backend: "type: gemini\nmax_tokens: 900", cap: 900 },
  ])("read with an output cap under any of its names: $backend", ({ backend, cap }) => {
    const team = teamOf(teamWith(backend), FULL_CONTEXT);
    expect(team.rules.agents[0]?.max_output_tokens).toBe(cap);
    expect(team.agents[0]?.backend.capsOutput).toBe(true);
  });

  it.each([
    {
      backend: "type: groq\nreasoning: {effort: low}",
      message: /`reasoning`.*Groq.*`reasoning_effort`/,
    },
    { backend: "type: openai\nstop: [x]", message: /`stop`.*OpenAI Responses/ },
    {
      backend: "type: openai\nthinking_level: low",
      message: /`thinking_level`.*OpenAI Responses.*\bextra_body\b/,
    },
    {
      backend: "type: claude\nsafety_settings: []",
      message: /`safety_settings`.*Anthropic Messages/,
    },
    {
      backend: "type: gemini\nstop_sequences: [x]",
      message: /`stop_sequences`.*Google Gemini.*\bstop\b/,
    },
    { backend: "type: grok\nenable_x_search: true\nstop: [x]", message: /`stop`.*Grok/ },
    {
      backend: "type: qwen\nenable_thinking: true",
      message: /`enable_thinking`.*\bextra_body\b/,
    },
    { backend: "type: openai\nagent_config: {}", message: /`agent_config`.*OpenAI Responses/ },
  ])(
    "refused if they are of another format, and the error names the equivalent: $backend",
    ({ backend, message }) => {
      expect(messagesFor(backend)).toMatch(message);
      expect(errorsOf(teamWith(backend), FULL_CONTEXT)[0]).toContain(
        " unknown_key /agents/0/backend/",
      );
    },
  );

  it.each([
    {
      backend: "type: claude\nextra_body: {system: x}",
      error: "5:20 not_allowed /agents/0/backend/extra_body/system",
    },
    {
      backend: "type: claude\nextra_body: {mcp_servers: []}",
      error: "5:20 not_allowed /agents/0/backend/extra_body/mcp_servers",
    },
    {
      backend: "type: gemini\nextra_body: {contents: []}",
      error: "5:20 not_allowed /agents/0/backend/extra_body/contents",
    },
    {
      backend: "type: openai\nextra_body: {store: true}",
      error: "5:20 not_allowed /agents/0/backend/extra_body/store",
    },
    {
      backend: "type: openai\nextra_body: {max_output_tokens: 1}",
      error: "5:20 not_allowed /agents/0/backend/extra_body/max_output_tokens",
    },
    {
      backend: "type: ollama\nmodel: m\nextra_body: {Max_Tokens: 1}",
      error: "6:20 not_allowed /agents/0/backend/extra_body/Max_Tokens",
    },
  ])("refused in extra_body if the service sets them itself: $backend", ({ backend, error }) => {
    expect(errorsOf(teamWith(backend), FULL_CONTEXT)).toEqual([error]);
  });

  const TOKEN = "aB3".repeat(12);
  it.each([
    [
      "a key by its name",
      "{api_key: mine}",
      "5:20 not_allowed /agents/0/backend/extra_body/api_key",
    ],
    [
      "a key by its name in other case",
      "{X-API-Key: mine}",
      "5:20 not_allowed /agents/0/backend/extra_body/X-API-Key",
    ],
    ["a token", "{token: mine}", "5:20 not_allowed /agents/0/backend/extra_body/token"],
    [
      "a header for credentials",
      "{extra_headers: {Authorization: mine}}",
      "5:36 not_allowed /agents/0/backend/extra_body/extra_headers/Authorization",
    ],
    [
      "a value in the form of a key",
      `{note: [1, sk-${TOKEN}]}`,
      "5:30 not_allowed /agents/0/backend/extra_body/note/1",
    ],
    [
      "a bearer token",
      `{note: "Bearer ${TOKEN}"}`,
      "5:26 not_allowed /agents/0/backend/extra_body/note",
    ],
  ])("refused in extra_body with %s, which would be stored unencrypted", (_, extra, error) => {
    const source = teamWith(`type: openai\nextra_body: ${extra}`);
    expect(errorsOf(source, FULL_CONTEXT)).toEqual([error]);
    const [detail = ""] = detailsOf(parseTeam(source, FULL_CONTEXT));
    expect(detail).toContain("`api_key`");
    expect(detail).not.toMatch(/mine|aB3/);
  });

  it.each([
    "{max_completion_tokens_details: {token_count: 3}, top_logprobs: 2}",
    "{user: sk-learn, note: a token of thanks}",
  ])("accepted if they only resemble credentials: %s", (extra) =>
    expect(errorsOf(teamWith(`type: openai\nextra_body: ${extra}`), FULL_CONTEXT)).toEqual([]),
  );

  it.each([
    {
      backend: "type: claude\ntemperature: 0.2",
      error: "5:7 not_allowed /agents/0/backend/temperature",
    },
    {
      backend: "type: openai\nmodel: gpt-5\ntemperature: 0.2",
      error: "6:7 not_allowed /agents/0/backend/temperature",
    },
  ])("refused if the model does not support them: $backend", ({ backend, error }) => {
    expect(errorsOf(teamWith(backend), FULL_CONTEXT)).toEqual([error]);
    expect(messagesFor(backend)).toContain("temperature");
  });
});
