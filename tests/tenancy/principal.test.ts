import { expect, it } from "vitest";
import {
  isScope,
  isTenant,
  LOCAL_PRINCIPAL,
  type Scope,
  withIncluded,
} from "../../src/tenancy/principal";

it.each<{ scopes: Scope[]; expected: Scope[] }>([
  { scopes: [], expected: [] },
  { scopes: ["read"], expected: ["read"] },
  { scopes: ["run"], expected: ["read", "run"] },
  { scopes: ["admin"], expected: ["read", "run", "admin"] },
  { scopes: ["read", "admin"], expected: ["read", "run", "admin"] },
])("the scopes $scopes include the scopes $expected", ({ scopes, expected }) => {
  expect([...withIncluded(scopes)]).toEqual(expected);
});

it.each([
  ["acme", true],
  ["team_7", true],
  ["ab", false],
  ["Acme", false],
  ["a-b-c", false],
  ["../other", false],
  ["a".repeat(40), true],
  ["a".repeat(41), false],
  ["acme\n", false],
])("whether %j is a valid tenant name: %s", (text, isValid) => {
  expect(isTenant(text)).toBe(isValid);
});

it("local access has all scopes for the local tenant", () => {
  expect(LOCAL_PRINCIPAL).toMatchObject({ tenant: "local", keyId: null });
  expect(LOCAL_PRINCIPAL.scopes.has("admin")).toBe(true);
  expect([isScope("run"), isScope("root"), isScope("toString")]).toEqual([true, false, false]);
});
