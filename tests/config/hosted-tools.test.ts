import { describe, expect, it } from "vitest";
import { parseTeam } from "../../src/config/parse-team";
import { detailsOf, errorsOf, FULL_CONTEXT, teamOf, teamWith, warningsOf } from "./teams";

const agentOf = (source: string) => {
  const { agents, rules } = teamOf(source, FULL_CONTEXT);
  return { backend: agents[0]?.backend, hosted: rules.agents[0]?.hosted_tools };
};
const refusal = (backend: string) =>
  detailsOf(parseTeam(teamWith(backend), FULL_CONTEXT)).join("\n");

describe("a hosted tool", () => {
  it.each([
    { backend: "type: openai\nenable_web_search: true", tool: "web_search", usd: 0.01 },
    { backend: "type: openai\nenable_code_interpreter: true", tool: "code_execution", usd: 0.03 },
    { backend: "type: openai\nenable_code_execution: true", tool: "code_execution", usd: 0.03 },
    { backend: "type: claude\nenable_web_search: true", tool: "web_search", usd: 0.01 },
    { backend: "type: claude\nenable_code_interpreter: true", tool: "code_execution", usd: 0.0125 },
    { backend: "type: gemini\nenable_web_search: true", tool: "web_search", usd: 0.014 },
    { backend: "type: gemini\nenable_code_interpreter: true", tool: "code_execution", usd: 0 },
    { backend: "type: grok\nenable_web_search: true", tool: "web_search", usd: 0.005 },
    { backend: "type: grok\nenable_x_search: true", tool: "x_search", usd: 0.005 },
    {
      backend: "type: azure_openai\nmodel: m\napi: responses\nenable_code_execution: true",
      tool: "code_execution",
      usd: null,
    },
  ])("is offered and has a price: $backend", ({ backend, tool, usd }) => {
    const agent = agentOf(teamWith(backend));
    expect(agent.backend?.hostedTools).toEqual([{ name: tool, maxUses: 5 }]);
    expect(agent.hosted).toMatchObject([{ name: tool, max_uses: 5, usd_per_use: usd }]);
  });

  it("is offered once if both of its keys are on", () => {
    const source = teamWith(
      "type: claude\nenable_code_execution: true\nenable_code_interpreter: true\nenable_web_search: true",
    );
    expect(agentOf(source).backend?.hostedTools.map(({ name }) => name)).toEqual([
      "web_search",
      "code_execution",
    ]);
  });

  it("is not offered if its key is off", () => {
    const agent = agentOf(teamWith("type: claude\nenable_web_search: false"));
    expect(agent).toMatchObject({ backend: { hostedTools: [] }, hosted: undefined });
  });

  it("has the config's limit of uses per call", () => {
    expect(
      agentOf(teamWith("type: claude\nenable_web_search: true\nhosted_tool_max_uses: 2")).hosted,
    ).toMatchObject([{ max_uses: 2 }]);
  });

  it.each([
    { backend: "type: openai\nenable_web_search: true", messages: [] },
    { backend: "type: claude\nenable_web_search: true", messages: [] },
    {
      backend: "type: claude\nenable_code_execution: true",
      messages: ["does not limit code execution, because Anthropic supports no limit"],
    },
    {
      backend: "type: gemini\nenable_web_search: true",
      messages: ["does not limit web search, because Google Gemini supports no limit"],
    },
    {
      backend: "type: grok",
      messages: ["has no effect: the agent has no tool that the provider runs"],
    },
  ])("has a warning if the limit cannot be enforced: $backend", ({ backend, messages }) => {
    const start = "no_effect /agents/0/backend/hosted_tool_max_uses: `hosted_tool_max_uses` ";
    const warnings = warningsOf(teamWith(`${backend}\nhosted_tool_max_uses: 2`));
    expect(warnings).toEqual(messages.map((words) => expect.stringContaining(start + words)));
    expect(warningsOf(teamWith(backend))).toEqual([]);
  });

  it("needs the API that supports it if a provider has two APIs", () => {
    const grok = (lines: string) => errorsOf(teamWith(`type: grok\n${lines}`), FULL_CONTEXT);
    expect(grok("enable_x_search: true")).toEqual([]);
    expect(grok("api: chat_completions\nseed: 7")).toEqual([]);
    expect(grok("api: chat_completions\nenable_x_search: true")).toEqual([
      "6:7 not_served /agents/0/backend/enable_x_search",
    ]);
  });
});

describe("a hosted tool is refused", () => {
  it.each([
    { backend: "type: groq\nenable_web_search: true", message: "Groq does not support web search" },
    {
      backend: "type: groq\nenable_web_search: true",
      message: "a backend type that supports it: openai, claude, gemini, grok.",
    },
    {
      backend: "type: openai\nenable_x_search: true",
      message: "a backend type that supports it: grok.",
    },
    {
      backend: "type: chatcompletion\nmodel: gpt-5\nenable_web_search: true",
      message: "Chat Completions does not support web search",
    },
    {
      backend: "type: azure_openai\nmodel: m\nenable_code_execution: true",
      message: "write `api: responses`",
    },
    {
      backend: "type: azure_openai\nmodel: m\napi: responses\nenable_web_search: true",
      message: "Azure OpenAI does not support web search",
    },
  ])("with advice: $message", ({ backend, message }) => {
    expect(refusal(backend)).toContain(message);
    expect(errorsOf(teamWith(backend), FULL_CONTEXT)[0]).toContain(
      " not_served /agents/0/backend/enable_",
    );
  });

  it.each([
    ["enable_web_search: sometimes", "5:26 wrong_type /agents/0/backend/enable_web_search"],
    ["hosted_tool_max_uses: 0", "5:29 out_of_range /agents/0/backend/hosted_tool_max_uses"],
    ["hosted_tool_max_uses: 51", "5:29 out_of_range /agents/0/backend/hosted_tool_max_uses"],
  ])("if a value is invalid: %s", (line, error) => {
    expect(errorsOf(teamWith(`type: openai\n${line}`), FULL_CONTEXT)).toEqual([error]);
  });
});

describe("a model that runs hosted tools only without functions", () => {
  const agentAlone =
    "{id: a, backend: {type: gemini, model: gemini-2.5-flash, enable_web_search: true, enable_code_execution: true}}";
  const rulesOf = (source: string) => teamOf(source, FULL_CONTEXT).rules.agents[0];

  it.each([
    { name: "in a team", source: `agents: [${agentAlone}, {id: b, backend: {type: claude}}]` },
    {
      name: "of a single agent that uses the full protocol",
      source: `agent: ${agentAlone}\nui: {use_orchestrator_for_single_agent: true}`,
    },
  ])("has research calls $name, with one warning", ({ source }) => {
    expect(rulesOf(source)).toMatchObject({
      hosted_alone: true,
      hosted_tools: [{ name: "web_search" }, { name: "code_execution" }],
    });
    const warnings = warningsOf(source).filter((warning) => warning.startsWith("research_calls"));
    expect(warnings).toEqual([
      expect.stringContaining("gemini-2.5-flash supports it only in calls without functions"),
    ]);
    expect(warnings[0]).toContain("gemini-3.8-flash needs none");
  });

  it.each([
    { name: "for an agent that only presents", source: `agent: ${agentAlone}` },
    {
      name: "in a team that skips coordination",
      source: `agents: [${agentAlone}, {id: b, backend: {type: claude}}]\norchestrator: {skip_coordination_rounds: true}`,
    },
    {
      name: "if the model supports hosted tools beside functions",
      source: `agents: [${agentAlone.replace("2.5", "3.8")}, {id: b, backend: {type: claude}}]`,
    },
  ])("has no research calls $name", ({ source }) => {
    expect(rulesOf(source)).not.toHaveProperty("hosted_alone");
    expect(rulesOf(source)?.hosted_tools).toHaveLength(2);
    expect(warningsOf(source).filter((warning) => warning.startsWith("research_calls"))).toEqual(
      [],
    );
  });

  it("has its own price for each use", () => {
    expect(agentOf(`agent: ${agentAlone}`).hosted?.[0]).toMatchObject({
      name: "web_search",
      usd_per_use: 0.035,
    });
  });
});
