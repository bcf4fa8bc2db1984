import { describe, expect, it } from "vitest";
import { toProviderError } from "../../src/providers/errors";
import { ProviderError } from "../../src/providers/provider";

const KEY = "my-secret-key-123";
describe("toProviderError", () => {
  const wrapped = (cause: unknown) => new Error("Connection error.", { cause });
  it.each([
    {
      name: "a refused connection",
      given: wrapped(new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") })),
      is: "transient",
      code: "connection_refused",
    },
    {
      name: "a connection refused at every address",
      given: wrapped(Object.assign(new AggregateError([]), { code: "ECONNREFUSED" })),
      is: "transient",
      code: "connection_refused",
    },
    {
      name: "an unknown host name",
      given: new Error("getaddrinfo ENOTFOUND x"),
      is: "transient",
      code: "connection_refused",
    },
    {
      name: "a broken connection",
      given: wrapped(new TypeError("fetch failed", { cause: new Error("read ECONNRESET") })),
      is: "transient",
      code: "connection_failed",
    },
    {
      name: "invalid JSON",
      given: new SyntaxError("Unexpected token"),
      is: "transient",
      code: "bad_response",
    },
    {
      name: "a deployment",
      given: wrapped(new Error("Durable Object reset because its code was updated.")),
      is: "interrupted",
      code: "interrupted",
    },
    {
      name: "workerd's message for a refused or broken connection",
      given: wrapped(new Error("Network connection lost.")),
      is: "transient",
      code: "connection_failed",
    },
    {
      name: "a ProviderError",
      given: wrapped(new ProviderError("quota", "quota_exceeded", "no money")),
      is: "quota",
      code: "quota_exceeded",
    },
    {
      name: "a value that is not an error",
      given: "boom",
      is: "transient",
      code: "connection_failed",
    },
  ])("reads $name", ({ given, is, code }) => {
    expect(toProviderError(given, [])).toMatchObject({ failureClass: is, code });
  });

  it.each([
    {
      name: "invalid JSON",
      given: new SyntaxError("Unexpected end of JSON input"),
      says: "The provider sent an event with invalid JSON (Unexpected end of JSON input)",
    },
    {
      name: "a broken connection, with each cause once and without full stops between causes",
      given: wrapped(new Error("Network connection lost.")),
      says: "Connection error: Network connection lost",
    },
  ])("describes $name", ({ given, says }) => expect(toProviderError(given, []).message).toBe(says));

  it.each([
    "sk-canary-012",
    "[1, my.own-key]",
    'x"my.own-key"',
    '{"a":1}\nmy.own-key',
    `{"a": ${"9".repeat(40)}my.own-key}`,
  ])("does not quote invalid JSON: %s", (text) => {
    let thrown: unknown;
    try {
      JSON.parse(text);
    } catch (error) {
      thrown = error;
    }
    const { code, message } = toProviderError(thrown, []);
    expect([code, message]).toEqual([
      "bad_response",
      expect.stringMatching(/^The provider sent an event with invalid JSON/),
    ]);
    expect(message).not.toMatch(/canary|own|key|sk-/);
  });

  it("joins the messages of all causes once, without keys, and drops the causes", () => {
    const failure = toProviderError(
      wrapped(new Error(`bad key ${KEY}`, { cause: new Error("Connection error.") })),
      [KEY],
    );
    expect(failure.message).toBe("Connection error: bad key [redacted]");
    expect(failure.cause).toBeUndefined();
  });
});
