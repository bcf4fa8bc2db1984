import { describe, expect, it } from "vitest";
import {
  loaderOf,
  operatorSecret,
  operatorSecretsFor,
  toolFacts,
} from "../../../../durable-objects/session/tools/tool-secrets";

const ENV = {
  TOOL_SECRETS:
    "WEATHER=https://api.weather.net,UNSET=https://api.weather.net,OWN@acme=GET https://api.weather.net/v1",
  OWN: "acme's",
  WEATHER: " s3cret ",
  OPENAI_API_KEY: "a provider's",
  REPEATABLE_TOOLS: "https://api.weather.net/search, ,https://x.net",
};

describe("a tool secret", () => {
  it.each([
    {
      name: "WEATHER",
      origin: "https://api.weather.net",
      secret: "s3cret",
      why: "goes where it is bound to",
    },
    { name: "WEATHER", origin: "https://evil.net", secret: undefined, why: "goes nowhere else" },
    {
      name: "UNSET",
      origin: "https://api.weather.net",
      secret: undefined,
      why: "is none if it is not set",
    },
    {
      name: "OPENAI_API_KEY",
      origin: "https://api.weather.net",
      secret: undefined,
      why: "is none if nobody bound it",
    },
    {
      name: "TOOL_SECRETS",
      origin: "https://api.weather.net",
      secret: undefined,
      why: "is not the list itself",
    },
  ])("$why: $name at $origin", ({ name, origin, secret }) => {
    expect(operatorSecret(ENV, "acme", name)({ url: origin, method: "GET" })).toBe(secret);
  });

  it.each([
    {
      tenant: "acme",
      method: "GET",
      path: "/v1/now",
      secret: "acme's",
      why: "serves the tenant that it names",
    },
    {
      tenant: "other",
      method: "GET",
      path: "/v1/now",
      secret: undefined,
      why: "serves no other tenant",
    },
    {
      tenant: "acme",
      method: "DELETE",
      path: "/v1/now",
      secret: undefined,
      why: "goes by no other method",
    },
    {
      tenant: "acme",
      method: "GET",
      path: "/v2/now",
      secret: undefined,
      why: "goes to no other path",
    },
  ])("that names tenant, method and path $why (M11)", ({ tenant, method, path, secret }) => {
    expect(
      operatorSecret(ENV, tenant, "OWN")({ url: `https://api.weather.net${path}`, method }),
    ).toBe(secret);
  });

  it("is listed for the configs of its tenants if it is set", () => {
    const namesFor = (tenant: string) => operatorSecretsFor(ENV, tenant).map(({ name }) => name);
    expect([namesFor("acme"), namesFor("other")]).toEqual([["WEATHER", "OWN"], ["WEATHER"]]);
  });
});

const NOTHING_SAID = { memoryMb: null, cpus: null };

it("configs know the addresses of set secrets, and where commands run", () => {
  expect(toolFacts(ENV)).toEqual({
    repeatableTools: ["https://api.weather.net/search", "https://x.net"],
    commands: "service",
    containers: NOTHING_SAID,
    javascript: false,
  });
  expect(toolFacts({})).toEqual({
    repeatableTools: [],
    commands: "service",
    containers: NOTHING_SAID,
    javascript: false,
  });
  const bound = { SANDBOX: {} as never };
  expect(toolFacts(bound).commands).toBe("open_container");
  expect(toolFacts({ ...bound, SANDBOX_MEMORY_MB: "4096", SANDBOX_CPUS: "-1" }).containers).toEqual(
    {
      memoryMb: 4096,
      cpus: null,
    },
  );
  expect(toolFacts({ ...bound, SANDBOX_NETWORK: "none" }).commands).toBe("closed_container");
});

const LOADER = {} as never;

describe("JavaScript of models", () => {
  it.each([
    { name: "does not run by default", env: {}, runs: false },
    { name: "does not run with a loader alone", env: { LOADER }, runs: false },
    { name: "does not run with the setting alone", env: { JAVASCRIPT: "on" }, runs: false },
    { name: "does not run with another value", env: { LOADER, JAVASCRIPT: "yes" }, runs: false },
    { name: "runs with both", env: { LOADER, JAVASCRIPT: " on " }, runs: true },
  ])("$name", ({ env, runs }) => {
    expect(toolFacts(env).javascript).toBe(runs);
    expect(loaderOf(env)).toBe(runs ? LOADER : null);
  });
});
