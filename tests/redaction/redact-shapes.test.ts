import { expect, it } from "vitest";
import { redact, redactShapes } from "../../src/redaction/redact";
import { cpuMs } from "../fakes/cpu-time";

const KEY = `mge_${"0".repeat(26)}_${"A".repeat(43)}`;

it.each([
  ["a key of this service", `unknown field ${KEY}`, "unknown field [redacted]"],
  ["a ticket", `mgt_${"A".repeat(43)}_acme is used`, "[redacted] is used"],
  ["a provider's key", "agents.sk-canary-0123456789 is no field", "agents.[redacted] is no field"],
  [
    "the user name and password in a URL",
    "https://user:pass@example.org/v1 is refused",
    "https://[redacted]@example.org/v1 is refused",
  ],
  [
    "a token in place of a user name in a URL",
    "https://token@example.org",
    "https://[redacted]@example.org",
  ],
])("hides %s", (_, text, expected) => {
  expect([redactShapes(text), redact(text, [])]).toEqual([expected, expected]);
});

it.each([
  "write api_key: ${OPENAI_API_KEY}",
  "send `Authorization: Bearer mge_…`",
  "agent2.1 voted for agent1.2",
  "https://example.org/@name",
  "a cap of $1.00 a day",
])("does not change a message of this service: %s", (text) => {
  expect(redactShapes(text)).toBe(text);
});

it("hides a ticket in the query of a URL", () => {
  expect(redact("GET /api/x?ticket=abcdef&after=3", [])).toBe(
    "GET /api/x?ticket=[redacted]&after=3",
  );
});

it.each([
  "eyJ-",
  "a-",
  "sk-",
  "AIza-",
  "AQ.",
  "ghp_",
  "a://",
  "a*",
  "bearer ",
  "api_key=",
  "?key=",
])("is fast for a long text that repeats `%s`", (part) => {
  const text = part.repeat(250_000 / part.length);
  const startedAt = cpuMs();
  redactShapes(text);
  redact(text, []);
  expect(cpuMs() - startedAt).toBeLessThan(3000);
});
