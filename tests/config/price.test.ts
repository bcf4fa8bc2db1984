import { describe, expect, it } from "vitest";
import { FULL_CONTEXT, teamOf, teamWith, warningsOf } from "./teams";

const priceOf = (backend: string) => teamOf(teamWith(backend), FULL_CONTEXT).rules.agents[0]?.price;
const ONLY = "only budget.max_tokens can limit a run.";

describe("an unknown price", () => {
  it.each([
    {
      name: "of a model",
      backend: "type: openrouter\nmodel: some/model",
      message: `price_unknown /agents/0/backend/model: The price of some/model at OpenRouter is unknown: ${ONLY}`,
    },
    {
      name: "of a model at a known host that does not list it",
      backend:
        "type: openai\nmodel: gpt-5\nbase_url: https://openrouter.ai/api/v1\napi_key: ${OPENROUTER_API_KEY}",
      message: `price_unknown /agents/0/backend/model: The price of gpt-5 at OpenRouter is unknown: ${ONLY}`,
    },
    {
      name: "of a service tier without a list price",
      backend: "type: openai\nservice_tier: priority",
      message: `price_unknown /agents/0/backend/service_tier: The price of gpt-6.2-sol at OpenAI in this tier is unknown: ${ONLY}`,
    },
    {
      name: "of such a tier in extra_body",
      backend: "type: openai\nextra_body: {service_tier: fast}",
      message: `price_unknown /agents/0/backend/extra_body: The price of gpt-6.2-sol at OpenAI with \`service_tier\` is unknown: ${ONLY}`,
    },
    {
      name: "of a faster reply",
      backend: "type: claude\nextra_body: {speed: fast}",
      message: `price_unknown /agents/0/backend/extra_body: The price of claude-sonnet-5-5 at Anthropic with \`speed\` is unknown: ${ONLY}`,
    },
    {
      name: "of a search in extra_body",
      backend: "type: qwen\nextra_body: {enable_search: true}",
      message: `price_unknown /agents/0/backend/extra_body: The price of qwen3.8-max at Qwen with \`enable_search\` is unknown: ${ONLY}`,
    },
  ])("$name has a warning, and no price is assumed", ({ backend, message }) => {
    expect(warningsOf(teamWith(backend))).toEqual([message]);
    expect(priceOf(backend)).toBeNull();
  });

  it("of a hosted tool has its own warning beside the model's warning", () => {
    expect(
      warningsOf(
        teamWith("type: azure_openai\nmodel: m\napi: responses\nenable_code_execution: true"),
      ),
    ).toEqual([
      `price_unknown /agents/0/backend/model: The price of m at Azure OpenAI is unknown: ${ONLY}`,
      `price_unknown /agents/0/backend/enable_code_execution: The price of code execution by Azure OpenAI is unknown: ${ONLY}`,
    ]);
  });

  it.each([
    "type: openai",
    "type: openai\nservice_tier: flex",
    "type: claude\nservice_tier: standard_only",
    "type: gemini",
    "type: claude\nmodel: glm-5.3\nbase_url: https://api.z.ai/api/anthropic\napi_key: ${ZAI_API_KEY}",
    "type: openai\nbase_url: https://gateway.ai.cloudflare.com/v1/a/b/openai\napi_key: mine",
  ])("has no warning if the price is known: %s", (backend) => {
    expect(warningsOf(teamWith(backend))).toEqual([]);
    expect(priceOf(backend)).not.toBeNull();
  });

  it("has a warning for each agent with an unknown price", () => {
    const agent = (id: string) => `{id: ${id}, backend: {type: openrouter, model: m-${id}}}`;
    expect(
      warningsOf(`agents: [${agent("a")}, ${agent("b")}]`).map((warning) => warning.split(":")[0]),
    ).toEqual(["price_unknown /agents/0/backend/model", "price_unknown /agents/1/backend/model"]);
  });
});
