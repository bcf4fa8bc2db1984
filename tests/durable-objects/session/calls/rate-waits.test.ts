import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  HOLD_MS,
  type RateAnswer,
  type RateGateApi,
  type RateRequest,
} from "../../../../durable-objects/rate-gate/rate-gate-api";
import { type RatedCall, RateWaits } from "../../../../durable-objects/session/calls/rate-waits";
import { askToStart, EMPTY_QUEUE, leaveQueue } from "../../../../src/rate-limits/rate-queue";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const CALL: RatedCall = { endpoint: "e", limits: { requestsPerMinute: 1 }, tokens: 10 };
const START: RateAnswer = { type: "start" };

/** The gate's behaviour: it responds after a while, never responds, or is unreachable. */
type Turn = { afterMs: number; answer: RateAnswer } | "never" | "unreachable";

/**
 * Calls before a gate with scripted responses; the last response repeats. `seen`: the requests that
 * reached the gate and the reported waits.
 */
function callsAt(...turns: Turn[]) {
  const seen: string[] = [];
  let asked = 0;
  const at = () => Date.now() - began;
  const began = Date.now();
  const gate: RateGateApi = {
    start: async ({ call }: RateRequest, holdMs) => {
      seen.push(`${at()} start ${call} ${holdMs === HOLD_MS ? "long" : "short"}`);
      const turn = turns[Math.min(asked++, turns.length - 1)] ?? "never";
      if (turn === "unreachable") throw new Error("Network connection lost.");
      if (turn === "never") return new Promise(() => {});
      await new Promise((over) => setTimeout(over, turn.afterMs));
      return turn.answer;
    },
    leave: async (_, call) => void seen.push(`${at()} leave ${call}`),
    settle: async (_, call, tokens) => void seen.push(`${at()} settle ${call} ${tokens}`),
  };
  const waits = new RateWaits({ session: "s", gate: () => gate, now: () => Date.now() });
  const abort = new AbortController();
  const start = (effect = "c", { call = CALL, signal = abort.signal } = {}) =>
    void waits
      .start(effect, call, {
        signal,
        onWait: (until) => void seen.push(`${at()} waits till ${until - began}`),
      })
      .then(
        () => seen.push(`${at()} ${effect} goes`),
        (error: Error) => seen.push(`${at()} ${effect} ${error.message}`),
      );
  return { seen, waits, abort, start, began };
}
const wait = (startsAt: number): RateAnswer => ({ type: "wait", startsAt });
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe("a call before the rate gate", () => {
  it("starts when it is admitted, and reports no short wait", async () => {
    const { seen, start } = callsAt({ afterMs: 900, answer: START });
    start();
    await pass(1_000);
    expect(seen).toEqual(["0 start s_c short", "900 c goes"]);
  });

  it("reports a longer wait once, and asks until it is admitted", async () => {
    const { seen, start, began } = callsAt(
      { afterMs: 1_000, answer: wait(Date.now() + 30_000) },
      { afterMs: 20_000, answer: wait(Date.now() + 31_000) },
      { afterMs: 9_000, answer: START },
    );
    start();
    await pass(40_000);
    expect(began).toBeGreaterThan(0);
    expect(seen).toEqual([
      "0 start s_c short",
      "1000 waits till 30000",
      "1000 start s_c long",
      "21000 start s_c long",
      "30000 c goes",
    ]);
  });

  it("stops at once when it is aborted, and returns its share if it was admitted meanwhile", async () => {
    const { seen, start, abort } = callsAt(
      { afterMs: 1_000, answer: wait(0) },
      { afterMs: 5_000, answer: START },
    );
    start();
    await pass(2_000);
    abort.abort(new Error("cancelled"));
    await pass(10_000);
    expect(seen.slice(3)).toEqual(["2000 leave s_c", "2000 c cancelled", "6000 leave s_c"]);
  });

  it("returns its share once if it is not sent, and keeps it if it was sent", async () => {
    const { seen, waits, start } = callsAt({ afterMs: 0, answer: START });
    start();
    start("d");
    await pass(1);
    waits.release("c");
    waits.release("c");
    waits.settle("d", "e", 77);
    waits.release("d");
    await pass(1);
    expect(seen.slice(-2)).toEqual(["1 leave s_c", "1 settle s_d 77"]);
  });

  it("keeps the estimate of a call whose usage is unknown", async () => {
    const { seen, waits, start } = callsAt({ afterMs: 0, answer: START });
    start();
    await pass(1);
    waits.settle("c", "e", null);
    waits.release("c");
    await pass(1);
    expect(seen).toEqual(["0 start s_c short", "0 c goes"]);
  });
});

describe("an unreachable rate gate", () => {
  it("is asked again, because it may only be moving", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const { seen, start } = callsAt("unreachable", "unreachable", { afterMs: 10, answer: START });
    start();
    await pass(5_000);
    expect(seen).toEqual([
      "0 start s_c short",
      "250 start s_c short",
      "750 start s_c short",
      "760 c goes",
    ]);
    expect(console.error).toHaveBeenCalledTimes(1);
  });

  it("delays a call at most 10 s; then the session applies the same limits itself", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const { seen, start } = callsAt("unreachable");
    start();
    start("d");
    await pass(70_000);
    const lines = seen.filter((line) => !line.includes("start s_"));
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^1\d{4} c goes$/);
    expect(lines[1]).toMatch(/^1\d{4} waits till 7\d{4}$/);
    await pass(10_000);
    expect(seen.at(-1)).toMatch(/^7\d{4} d goes$/);
  });

  it("that never responds counts as unreachable", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const { seen, start } = callsAt("never");
    start();
    await pass(25_000);
    expect(seen.at(-1)).toMatch(/^1\d{4} c goes$/);
  });

  it("is asked first as soon as it is reachable again", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const { seen, start } = callsAt(...Array.from({ length: 18 }, () => "unreachable" as const), {
      afterMs: 5,
      answer: START,
    });
    start();
    start("d");
    await pass(30_000);
    expect(seen.filter((line) => line.endsWith("goes"))).toEqual(["11750 c goes", "13755 d goes"]);
  });

  it("does not learn of a returned share, but the session's next call starts at once", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const { seen, waits, start } = callsAt("unreachable");
    start();
    start("d");
    await pass(20_000);
    expect(seen.filter((line) => line.endsWith("goes"))).toEqual(["11750 c goes"]);
    waits.release("c");
    await pass(5_000);
    expect(seen.filter((line) => line.endsWith("goes"))[1]).toMatch(/^2[0-2]\d{3} d goes$/);
  });

  it("does not learn a call's usage, but the session counts it", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const { seen, waits, start } = callsAt("unreachable");
    const call = { ...CALL, limits: { tokensPerMinute: 15 } };
    start("c", { call });
    start("d", { call });
    await pass(20_000);
    expect(seen.filter((line) => line.endsWith("goes"))).toEqual(["11750 c goes"]);
    waits.settle("c", "e", 5);
    await pass(5_000);
    expect(seen.filter((line) => line.endsWith("goes"))[1]).toMatch(/^2[0-2]\d{3} d goes$/);
  });

  it("delays no call because of an aborted waiting call", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const { seen, start } = callsAt("unreachable");
    const cancelled = new AbortController();
    start();
    start("d", { signal: cancelled.signal });
    await pass(1);
    start("e");
    await pass(71_000);
    cancelled.abort(new Error("cancelled"));
    await pass(5_000);
    expect(seen.at(-1)).toMatch(/^7[2-5]\d{3} e goes$/);
  });
});

/** A gate that applies the rules. Requests and responses take equally long on their way. */
function gateFarAway(ways: { start: number[]; leave: number }): RateGateApi {
  let queue = EMPTY_QUEUE;
  let asked = 0;
  return {
    async start({ call, limits, tokens }) {
      const way = ways.start[Math.min(asked++, ways.start.length - 1)] ?? 0;
      await new Promise((over) => setTimeout(over, way));
      const verdict = askToStart(queue, { id: call, limits, tokens }, Date.now());
      queue = verdict.queue;
      await new Promise((over) => setTimeout(over, way));
      return verdict.granted ? { type: "start" } : { type: "wait", startsAt: verdict.startsAt };
    },
    async leave(_, call) {
      await new Promise((over) => setTimeout(over, ways.leave));
      queue = leaveQueue(queue, call);
    },
    settle: async () => {},
  };
}

describe("a call that asks again counts, although", () => {
  const waitsAt = (gate: RateGateApi) =>
    new RateWaits({ session: "s", gate: () => gate, now: () => Date.now() });
  const isLetIn = async (waits: RateWaits, effect: string) => {
    let letIn = false;
    void waits
      .start(effect, CALL, { signal: new AbortController().signal, onWait: () => {} })
      .then(() => (letIn = true));
    await pass(1_000);
    return letIn;
  };

  it("the returned share arrives late at the gate", async () => {
    const waits = waitsAt(gateFarAway({ start: [5], leave: 50 }));
    expect(await isLetIn(waits, "c")).toBe(true);
    waits.release("c");
    expect(await isLetIn(waits, "c")).toBe(true);
    expect(await isLetIn(waits, "d")).toBe(false);
  });

  it("it was admitted before, after it was aborted", async () => {
    const waits = waitsAt(gateFarAway({ start: [100, 5], leave: 5 }));
    const cancelled = new AbortController();
    const first = waits.start("c", CALL, { signal: cancelled.signal, onWait: () => {} });
    const ended = expect(first).rejects.toThrow("cancelled");
    await pass(10);
    cancelled.abort(new Error("cancelled"));
    await ended;
    expect(await isLetIn(waits, "c")).toBe(true);
    expect(await isLetIn(waits, "d")).toBe(false);
  });

  it("the gate does not respond to the returned share", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const gate = gateFarAway({ start: [5], leave: 5 });
    const waits = waitsAt({ ...gate, leave: () => new Promise(() => {}) });
    expect(await isLetIn(waits, "c")).toBe(true);
    waits.release("c");
    expect(await isLetIn(waits, "c")).toBe(false);
    await pass(5_000);
    expect(await isLetIn(waits, "c")).toBe(true);
    expect(await isLetIn(waits, "d")).toBe(false);
  });
});
