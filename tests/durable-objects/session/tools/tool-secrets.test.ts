import { describe, expect, it } from "vitest";
import { operatorSecret } from "../../../../durable-objects/session/tools/tool-secrets";

const ENV = {
  TOOL_SECRETS:
    "WEATHER=https://api.weather.net,UNSET=https://api.weather.net,OWN@acme=GET https://api.weather.net/v1",
  OWN: "acme's",
  WEATHER: " s3cret ",
  OPENAI_API_KEY: "a provider's",
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
});
