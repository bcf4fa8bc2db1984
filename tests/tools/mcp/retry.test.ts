import { describe, expect, it } from "vitest";
import type { McpFailure } from "../../../src/tools/mcp/failures";
import { nextTry } from "../../../src/tools/mcp/retry";

describe("another try", () => {
  const failure = (more: Partial<McpFailure>): McpFailure => ({
    ...{ message: "", reached: false, transient: false, fault: false, forgotten: false },
    ...more,
  });
  it.each([
    {
      name: "never for a call that is not known to be safe",
      failure: failure({ transient: true }),
      nth: 1,
      safe: false,
      afterMs: null,
    },
    {
      name: "for a safe call after a pause",
      failure: failure({ transient: true, reached: true }),
      nth: 1,
      safe: true,
      afterMs: 500,
    },
    {
      name: "after a longer pause",
      failure: failure({ transient: true }),
      nth: 2,
      safe: true,
      afterMs: 1_000,
    },
    {
      name: "not a fourth time",
      failure: failure({ transient: true }),
      nth: 3,
      safe: true,
      afterMs: null,
    },
    {
      name: "not for what will fail again",
      failure: failure({ reached: true }),
      nth: 1,
      safe: true,
      afterMs: null,
    },
    {
      name: "at once where the session was forgotten",
      failure: failure({ forgotten: true, transient: true }),
      nth: 1,
      safe: false,
      afterMs: 0,
    },
    {
      name: "not when it is forgotten again",
      failure: failure({ forgotten: true, transient: true }),
      nth: 2,
      safe: true,
      afterMs: null,
    },
  ])("$name", ({ failure: what, nth, safe, afterMs }) => {
    expect(nextTry(what, nth, safe)?.afterMs ?? null).toBe(afterMs);
  });
});
