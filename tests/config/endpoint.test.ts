import { describe, expect, it } from "vitest";
import { parseTeam } from "../../src/config/parse-team";
import { detailsOf, errorsOf, FULL_CONTEXT, teamOf, teamWith } from "./teams";

const azure = (lines: string) => teamWith(`type: azure_openai\nmodel: gpt-4.1\n${lines}`);
const backendOf = (source: string, context = FULL_CONTEXT) =>
  teamOf(source, context).agents[0]?.backend;
const ENDPOINT = "https://ours.openai.azure.com";
const withVersion = (version: string) => ({
  ...FULL_CONTEXT,
  variables: { ...FULL_CONTEXT.variables, AZURE_OPENAI_API_VERSION: version },
});

describe("a versioned endpoint", () => {
  it.each([
    {
      name: "is the operator's endpoint with the current API by default",
      lines: "",
      baseUrl: `${ENDPOINT}/openai/v1`,
      apiVersion: null,
    },
    {
      name: "has the current API if the version is v1",
      lines: "api_version: v1",
      baseUrl: `${ENDPOINT}/openai/v1`,
      apiVersion: null,
    },
    {
      name: "has a dated version",
      lines: "api_version: 2024-12-01-preview",
      baseUrl: `${ENDPOINT}/openai`,
      apiVersion: "2024-12-01-preview",
    },
    {
      name: "has a dated version in quotes",
      lines: 'api_version: "2024-10-21"',
      baseUrl: `${ENDPOINT}/openai`,
      apiVersion: "2024-10-21",
    },
    {
      name: "is the config's endpoint in the form for an SDK",
      lines: "azure_endpoint: https://ours.openai.azure.com/openai/v1/",
      baseUrl: `${ENDPOINT}/openai/v1`,
      apiVersion: null,
    },
    {
      name: "is the config's endpoint in the form that a console shows",
      lines: "azure_endpoint: https://ours.openai.azure.com/openai/deployments/gpt-4.1",
      baseUrl: `${ENDPOINT}/openai/v1`,
      apiVersion: null,
    },
    {
      name: "may be set by base_url",
      lines: "base_url: https://ours.openai.azure.com/openai\napi_version: 2025-04-01-preview",
      baseUrl: `${ENDPOINT}/openai`,
      apiVersion: "2025-04-01-preview",
    },
  ])("$name", ({ lines, baseUrl, apiVersion }) => {
    expect(backendOf(azure(lines))).toMatchObject({
      baseUrl,
      apiVersion,
      host: "azure_openai",
      key: { from: "stored", name: "AZURE_OPENAI_API_KEY" },
    });
  });

  it("has the operator's version if the config has no version", () => {
    expect(backendOf(azure(""), withVersion("2025-04-01-preview"))).toMatchObject({
      apiVersion: "2025-04-01-preview",
    });
    expect(backendOf(azure("api_version: v1"), withVersion("2025-04-01-preview"))).toMatchObject({
      apiVersion: null,
    });
  });

  it.each([
    { lines: "", format: "openai-chat" },
    { lines: "api: chat_completions", format: "openai-chat" },
    { lines: "api: responses", format: "openai-responses" },
  ])("uses $format for `$lines`", ({ lines, format }) =>
    expect(backendOf(azure(lines))?.format).toBe(format),
  );

  it.each(["azure_deployment", "deployment_name"])("reads the name of its model from %s", (key) => {
    expect(backendOf(azure(`${key}: our-gpt`))?.model).toBe("our-gpt");
    expect(backendOf(teamWith(`type: azure_openai\n${key}: our-gpt`))?.model).toBe("our-gpt");
  });

  it("has the context window of the model that the deployment is named after, and no price", () => {
    expect(teamOf(azure(""), FULL_CONTEXT).rules.agents[0]).toMatchObject({
      context_window: 1_047_576,
      price: null,
    });
  });
});

describe("an endpoint is refused", () => {
  it.each([
    {
      name: "an invalid version",
      source: azure("api_version: latest"),
      error: "6:20 out_of_range /agents/0/backend/api_version",
    },
    {
      name: "an unknown API",
      source: azure("api: completions"),
      error: "6:12 out_of_range /agents/0/backend/api",
    },
    {
      name: "an endpoint to which the operator's key is not bound",
      source: azure("azure_endpoint: https://theirs.openai.azure.com"),
      error: "4:7 key_not_set /agents/0/backend",
    },
    {
      name: "a private address",
      source: azure("azure_endpoint: https://10.0.0.1"),
      error: "6:23 base_url_refused /agents/0/backend/azure_endpoint",
    },
    {
      name: "a version for a backend without versions",
      source: teamWith("type: openai\napi_version: v1"),
      error: "5:7 unknown_key /agents/0/backend/api_version",
    },
    {
      name: "an API for a backend without a choice",
      source: teamWith("type: openai\napi: responses"),
      error: "5:7 unknown_key /agents/0/backend/api",
    },
  ])("$name", ({ source, error }) => {
    expect(errorsOf(source, FULL_CONTEXT)).toEqual([error]);
  });

  it.each([
    { type: "azure_openai", variable: "AZURE_OPENAI_ENDPOINT" },
    { type: "workers_ai", variable: "CLOUDFLARE_ACCOUNT_ID" },
  ])("if it is missing, and the error names the variable to set: $type", ({ type, variable }) => {
    const source = teamWith(`type: ${type}\nmodel: m`);
    const context = { ...FULL_CONTEXT, variables: {} };
    expect(errorsOf(source, context)).toEqual(["4:7 missing /agents/0/backend"]);
    expect(detailsOf(parseTeam(source, context))[0]).toContain(`set ${variable}`);
  });

  it("if the operator's value is not a URL, and the error names the variable", () => {
    const context = { ...FULL_CONTEXT, variables: { AZURE_OPENAI_ENDPOINT: "ours" } };
    expect(detailsOf(parseTeam(azure(""), context))[0]).toContain(
      "The operator's AZURE_OPENAI_ENDPOINT is not a complete URL",
    );
  });
});

describe("an operator's variable", () => {
  it("allows its own address even if it is private, but no other private address", () => {
    expect(backendOf(teamWith("type: vllm\nmodel: m"))?.baseUrl).toBe("http://10.0.0.5:8000/v1");
    expect(
      errorsOf(teamWith("type: vllm\nmodel: m\nbase_url: http://10.0.0.6:8000/v1"), FULL_CONTEXT),
    ).toEqual(["6:17 base_url_refused /agents/0/backend/base_url"]);
  });

  it("cannot change the path of an address", () => {
    const context = { ...FULL_CONTEXT, variables: { CLOUDFLARE_ACCOUNT_ID: "../../zones" } };
    expect(backendOf(teamWith("type: workers_ai"), context)).toMatchObject({
      baseUrl: "https://api.cloudflare.com/client/v4/accounts/..%2F..%2Fzones/ai/v1",
      key: { from: "none" },
    });
  });
});
