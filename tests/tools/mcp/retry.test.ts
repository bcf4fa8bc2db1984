import { describe, expect, it } from "vitest";
import { type McpFailure, nextTry } from "../../../src/tools/mcp/failures";

describe("a retry", () => {
  const failure = (more: Partial<McpFailure>): McpFailure => ({
    ...{ message: "", reached: false, transient: false, fault: false, forgotten: false },
    ...more,
  });
  it.each([
    {
      name: "is never made for a call that is not known to be safe",
      failure: failure({ transient: true }),
      nth: 1,
      safe: false,
      afterMs: null,
    },
    {
      name: "follows a safe call after a pause",
      failure: failure({ transient: true, reached: true }),
      nth: 1,
      safe: true,
      afterMs: 500,
    },
    {
      name: "follows the second try after a longer pause",
      failure: failure({ transient: true }),
      nth: 2,
      safe: true,
      afterMs: 1_000,
    },
    {
      name: "is not made a third time",
      failure: failure({ transient: true }),
      nth: 3,
      safe: true,
      afterMs: null,
    },
    {
      name: "is not made after a permanent failure",
      failure: failure({ reached: true }),
      nth: 1,
      safe: true,
      afterMs: null,
    },
    {
      name: "follows at once if the server has lost the session",
      failure: failure({ forgotten: true, transient: true }),
      nth: 1,
      safe: false,
      afterMs: 0,
    },
    {
      name: "is not made if the server loses the session again",
      failure: failure({ forgotten: true, transient: true }),
      nth: 2,
      safe: true,
      afterMs: null,
    },
  ])("$name", ({ failure: what, nth, safe, afterMs }) => {
    expect(nextTry(what, nth, safe)?.afterMs ?? null).toBe(afterMs);
  });
});
