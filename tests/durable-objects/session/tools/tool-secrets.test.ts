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
      why: "is sent to the origin that it is bound to",
    },
    {
      name: "WEATHER",
      origin: "https://evil.net",
      secret: undefined,
      why: "is not sent to another origin",
    },
    {
      name: "UNSET",
      origin: "https://api.weather.net",
      secret: undefined,
      why: "does not exist if its variable is not set",
    },
    {
      name: "OPENAI_API_KEY",
      origin: "https://api.weather.net",
      secret: undefined,
      why: "does not exist if TOOL_SECRETS does not name it",
    },
    {
      name: "TOOL_SECRETS",
      origin: "https://api.weather.net",
      secret: undefined,
      why: "cannot be the variable TOOL_SECRETS itself",
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
      why: "is found for a matching request",
    },
    {
      tenant: "other",
      method: "GET",
      path: "/v1/now",
      secret: undefined,
      why: "is not found for another tenant",
    },
    {
      tenant: "acme",
      method: "DELETE",
      path: "/v1/now",
      secret: undefined,
      why: "is not found for another method",
    },
    {
      tenant: "acme",
      method: "GET",
      path: "/v2/now",
      secret: undefined,
      why: "is not found for another path",
    },
  ])(
    "that is bound to a tenant, a method and a path $why (M11)",
    ({ tenant, method, path, secret }) => {
      expect(
        operatorSecret(ENV, tenant, "OWN")({ url: `https://api.weather.net${path}`, method }),
      ).toBe(secret);
    },
  );
});
