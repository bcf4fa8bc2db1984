import { describe, expect, it } from "vitest";
import {
  literalKeyProblem,
  loaderOf,
  operatorSecretsFor,
  toolFacts,
} from "../../src/config/operator-settings";

it("a tenant's configs may use the operator's secrets that are set and allowed for the tenant", () => {
  const variable = "WEATHER=https://api.weather.net,UNSET=https://x.net,OWN@acme=https://x.net";
  const namesFor = (tenant: string) =>
    operatorSecretsFor(variable, tenant, (name) => name !== "UNSET").map(({ name }) => name);
  expect([namesFor("acme"), namesFor("other")]).toEqual([["WEATHER", "OWN"], ["WEATHER"]]);
});

const ENV = { REPEATABLE_TOOLS: "https://api.weather.net/search, ,https://x.net" };
const NOT_DECLARED = { memoryMb: null, cpus: null };

it("a config's context has the repeatable tools, where commands run, and the limits of containers", () => {
  expect(toolFacts(ENV)).toEqual({
    repeatableTools: ["https://api.weather.net/search", "https://x.net"],
    commands: "service",
    containers: NOT_DECLARED,
    javascript: false,
  });
  expect(toolFacts({})).toEqual({
    repeatableTools: [],
    commands: "service",
    containers: NOT_DECLARED,
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
    {
      name: "runs with the loader and the setting",
      env: { LOADER, JAVASCRIPT: " on " },
      runs: true,
    },
  ])("$name", ({ env, runs }) => {
    expect(toolFacts(env).javascript).toBe(runs);
    expect(loaderOf(env)).toBe(runs ? LOADER : null);
  });
});

describe("the advice for missing sealing keys", () => {
  const problem = "SEALING_KEYS is not set";

  it("is a command of the operator on a deployed service", () => {
    const text = literalKeyProblem(problem, {});
    expect(text).toMatch(
      /^SEALING_KEYS is not set\. The operator sets it with `npx wrangler secret put/,
    );
    expect(text).toContain("`npm run setup` writes it to .dev.vars; then restart the service");
  });

  it.each([{ OPEN_ACCESS: "loopback" }, { SERVICE_ORIGINS: "http://localhost:*" }])(
    "is first `npm run setup` on this machine: %o",
    (service) => {
      expect(literalKeyProblem(problem, service)).toMatch(
        /^SEALING_KEYS is not set\. To set it, `npm run setup`/,
      );
    },
  );
});
