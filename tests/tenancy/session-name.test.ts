import { expect, it } from "vitest";
import { sessionName } from "../../src/tenancy/principal";

it("the name of a session's object is the same for the same inputs, and does not contain them", () => {
  const name = sessionName("master", "acme", "session_1");
  expect(name).toBe(sessionName("master", "acme", "session_1"));
  expect(name).toMatch(/^[0-9a-f]{64}$/);
});

it.each([
  { name: "another tenant", other: sessionName("master", "acmf", "session_1") },
  { name: "another session", other: sessionName("master", "acme", "session_2") },
  { name: "another master key", other: sessionName("mastes", "acme", "session_1") },
  {
    name: "letters moved from the session to the tenant",
    other: sessionName("master", "acmes", "ession_1"),
  },
  { name: "a missing master key", other: sessionName(null, "acme", "session_1") },
])("the name of a session's object is different for $name", ({ other }) => {
  expect(other).not.toBe(sessionName("master", "acme", "session_1"));
});

it("the name also separates tenant and session without a master key", () => {
  expect(sessionName(null, "ab1", "c")).not.toBe(sessionName(null, "ab", "1c"));
  expect(sessionName(null, "acme", "session_1")).toBe("4:acme9:session_1");
});
