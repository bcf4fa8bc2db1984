import { describe, expect, it } from "vitest";
import { type McpFailure, nextTry } from "../../../src/tools/mcp/failures";

describe("a retry", () => {
  const failure = (facts: Partial<McpFailure>): McpFailure => ({
    ...{
      message: "",
      wasReached: false,
      isTransient: false,
      isServerFault: false,
      isSessionLost: false,
    },
    ...facts,
  });
  it.each([
    {
      name: "is not made for a call that is not known to be safe",
      failure: failure({ isTransient: true }),
      tries: 1,
      isSafe: false,
      afterMs: null,
    },
    {
      name: "of a safe call is made after a pause",
      failure: failure({ isTransient: true, wasReached: true }),
      tries: 1,
      isSafe: true,
      afterMs: 500,
    },
    {
      name: "of the second try is made after a longer pause",
      failure: failure({ isTransient: true }),
      tries: 2,
      isSafe: true,
      afterMs: 1_000,
    },
    {
      name: "of the third try is not made",
      failure: failure({ isTransient: true }),
      tries: 3,
      isSafe: true,
      afterMs: null,
    },
    {
      name: "is not made after a permanent failure",
      failure: failure({ wasReached: true }),
      tries: 1,
      isSafe: true,
      afterMs: null,
    },
    {
      name: "is made immediately if the server has lost the session",
      failure: failure({ isSessionLost: true, isTransient: true }),
      tries: 1,
      isSafe: false,
      afterMs: 0,
    },
    {
      name: "is not made if the server loses the session again",
      failure: failure({ isSessionLost: true, isTransient: true }),
      tries: 2,
      isSafe: true,
      afterMs: null,
    },
  ])("$name", ({ failure: what, tries, isSafe, afterMs }) => {
    expect(nextTry(what, tries, isSafe)?.afterMs ?? null).toBe(afterMs);
  });
});
