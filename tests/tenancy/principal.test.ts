import { expect, it } from "vitest";
import {
  isScope,
  isTenant,
  LOCAL_PRINCIPAL,
  type Scope,
  withIncluded,
} from "../../src/tenancy/principal";

it.each<{ given: Scope[]; then: Scope[] }>([
  { given: [], then: [] },
  { given: ["read"], then: ["read"] },
  { given: ["run"], then: ["read", "run"] },
  { given: ["admin"], then: ["read", "run", "admin"] },
  { given: ["read", "admin"], then: ["read", "run", "admin"] },
])("a principal with $given may $then", ({ given, then }) => {
  expect([...withIncluded(given)]).toEqual(then);
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
])("a tenant may be named %j: %s", (text, may) => {
  expect(isTenant(text)).toBe(may);
});

it("this machine may do everything as the local tenant", () => {
  expect(LOCAL_PRINCIPAL).toMatchObject({ tenant: "local", keyId: null });
  expect(LOCAL_PRINCIPAL.scopes.has("admin")).toBe(true);
  expect([isScope("run"), isScope("root"), isScope("toString")]).toEqual([true, false, false]);
});
