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

/**
 * How the gate reacts to one request: it answers after some time, never answers, or is unreachable.
 */
type GateReaction = { afterMs: number; answer: RateAnswer } | "never" | "unreachable";

/**
 * Calls that ask a gate with these reactions; the last reaction repeats. `seen`: the requests that
 * reached the gate, the reported waits, and the ends of waits ("goes" means the call may start).
 * The numbers are times in ms.
 */
function callsAt(...reactions: GateReaction[]) {
  const seen: string[] = [];
  let requestCount = 0;
  const at = () => Date.now() - startedAt;
  const startedAt = Date.now();
  const gate: RateGateApi = {
    start: async ({ call }: RateRequest, holdMs) => {
      seen.push(`${at()} start ${call} ${holdMs === HOLD_MS ? "long" : "short"}`);
      const reaction = reactions[Math.min(requestCount++, reactions.length - 1)] ?? "never";
      if (reaction === "unreachable") throw new Error("Network connection lost.");
      if (reaction === "never") return new Promise(() => {});
      await new Promise((resolve) => setTimeout(resolve, reaction.afterMs));
      return reaction.answer;
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
        onWait: (until) => void seen.push(`${at()} waits till ${until - startedAt}`),
      })
      .then(
        () => seen.push(`${at()} ${effect} goes`),
        (error: Error) => seen.push(`${at()} ${effect} ${error.message}`),
      );
  return { seen, waits, abort, start, startedAt };
}
const wait = (startsAt: number): RateAnswer => ({ type: "wait", startsAt });
const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe("a call that asks the rate gate", () => {
  it("starts when it is admitted, and does not report a short wait", async () => {
    const { seen, start } = callsAt({ afterMs: 900, answer: START });
    start();
    await advance(1_000);
    expect(seen).toEqual(["0 start s_c short", "900 c goes"]);
  });

  it("reports a longer wait once, and asks until it is admitted", async () => {
    const { seen, start, startedAt } = callsAt(
      { afterMs: 1_000, answer: wait(Date.now() + 30_000) },
      { afterMs: 20_000, answer: wait(Date.now() + 31_000) },
      { afterMs: 9_000, answer: START },
    );
    start();
    await advance(40_000);
    expect(startedAt).toBeGreaterThan(0);
    expect(seen).toEqual([
      "0 start s_c short",
      "1000 waits till 30000",
      "1000 start s_c long",
      "21000 start s_c long",
      "30000 c goes",
    ]);
  });

  it("stops at once when it is aborted, and leaves again if the gate admitted it meanwhile", async () => {
    const { seen, start, abort } = callsAt(
      { afterMs: 1_000, answer: wait(0) },
      { afterMs: 5_000, answer: START },
    );
    start();
    await advance(2_000);
    abort.abort(new Error("cancelled"));
    await advance(10_000);
    expect(seen.slice(3)).toEqual(["2000 leave s_c", "2000 c cancelled", "6000 leave s_c"]);
  });

  it("leaves the gate once if it is not sent, and does not leave if it was sent", async () => {
    const { seen, waits, start } = callsAt({ afterMs: 0, answer: START });
    start();
    start("d");
    await advance(1);
    waits.release("c");
    waits.release("c");
    waits.settle("d", "e", 77);
    waits.release("d");
    await advance(1);
    expect(seen.slice(-2)).toEqual(["1 leave s_c", "1 settle s_d 77"]);
  });

  it("does not report its usage if the usage is unknown, so that the estimate counts", async () => {
    const { seen, waits, start } = callsAt({ afterMs: 0, answer: START });
    start();
    await advance(1);
    waits.settle("c", "e", null);
    waits.release("c");
    await advance(1);
    expect(seen).toEqual(["0 start s_c short", "0 c goes"]);
  });
});

describe("an unreachable rate gate", () => {
  it("is asked again, because it may be restarting", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const { seen, start } = callsAt("unreachable", "unreachable", { afterMs: 10, answer: START });
    start();
    await advance(5_000);
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
    await advance(70_000);
    const lines = seen.filter((line) => !line.includes("start s_"));
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^1\d{4} c goes$/);
    expect(lines[1]).toMatch(/^1\d{4} waits till 7\d{4}$/);
    await advance(10_000);
    expect(seen.at(-1)).toMatch(/^7\d{4} d goes$/);
  });

  it("is assumed if the gate never answers", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const { seen, start } = callsAt("never");
    start();
    await advance(25_000);
    expect(seen.at(-1)).toMatch(/^1\d{4} c goes$/);
  });

  it("decides again as soon as it is reachable", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const { seen, start } = callsAt(...Array.from({ length: 18 }, () => "unreachable" as const), {
      afterMs: 5,
      answer: START,
    });
    start();
    start("d");
    await advance(30_000);
    expect(seen.filter((line) => line.endsWith("goes"))).toEqual(["11750 c goes", "13755 d goes"]);
  });

  it("gets no message about a call that leaves, but the session's next call starts soon", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const { seen, waits, start } = callsAt("unreachable");
    start();
    start("d");
    await advance(20_000);
    expect(seen.filter((line) => line.endsWith("goes"))).toEqual(["11750 c goes"]);
    waits.release("c");
    await advance(5_000);
    expect(seen.filter((line) => line.endsWith("goes"))[1]).toMatch(/^2[0-2]\d{3} d goes$/);
  });

  it("gets no message about a call's usage, but the session itself counts the usage", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const { seen, waits, start } = callsAt("unreachable");
    const call = { ...CALL, limits: { tokensPerMinute: 15 } };
    start("c", { call });
    start("d", { call });
    await advance(20_000);
    expect(seen.filter((line) => line.endsWith("goes"))).toEqual(["11750 c goes"]);
    waits.settle("c", "e", 5);
    await advance(5_000);
    expect(seen.filter((line) => line.endsWith("goes"))[1]).toMatch(/^2[0-2]\d{3} d goes$/);
  });

  it("does not delay a call because of another call that was aborted while it waited", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const { seen, start } = callsAt("unreachable");
    const cancelled = new AbortController();
    start();
    start("d", { signal: cancelled.signal });
    await advance(1);
    start("e");
    await advance(71_000);
    cancelled.abort(new Error("cancelled"));
    await advance(5_000);
    expect(seen.at(-1)).toMatch(/^7[2-5]\d{3} e goes$/);
  });
});

/**
 * A gate that applies the rules, with slow connections. `delays`: the time in ms that each request
 * and each answer takes.
 */
function slowGate(delays: { start: number[]; leave: number }): RateGateApi {
  let queue = EMPTY_QUEUE;
  let requestCount = 0;
  return {
    async start({ call, limits, tokens }) {
      const delayIndex = Math.min(requestCount++, delays.start.length - 1);
      const delay = delays.start[delayIndex] ?? 0;
      await new Promise((resolve) => setTimeout(resolve, delay));
      const verdict = askToStart(queue, { id: call, limits, tokens }, Date.now());
      queue = verdict.queue;
      await new Promise((resolve) => setTimeout(resolve, delay));
      return verdict.granted ? { type: "start" } : { type: "wait", startsAt: verdict.startsAt };
    },
    async leave(_, call) {
      await new Promise((resolve) => setTimeout(resolve, delays.leave));
      queue = leaveQueue(queue, call);
    },
    settle: async () => {},
  };
}

describe("a call that asks again is admitted and counted", () => {
  const waitsAt = (gate: RateGateApi) =>
    new RateWaits({ session: "s", gate: () => gate, now: () => Date.now() });
  const isAdmitted = async (waits: RateWaits, effect: string) => {
    let admitted = false;
    void waits
      .start(effect, CALL, { signal: new AbortController().signal, onWait: () => {} })
      .then(() => (admitted = true));
    await advance(1_000);
    return admitted;
  };

  it("if its earlier `leave` reaches the gate late", async () => {
    const waits = waitsAt(slowGate({ start: [5], leave: 50 }));
    expect(await isAdmitted(waits, "c")).toBe(true);
    waits.release("c");
    expect(await isAdmitted(waits, "c")).toBe(true);
    expect(await isAdmitted(waits, "d")).toBe(false);
  });

  it("if the gate admitted it earlier, after it was aborted", async () => {
    const waits = waitsAt(slowGate({ start: [100, 5], leave: 5 }));
    const cancelled = new AbortController();
    const first = waits.start("c", CALL, { signal: cancelled.signal, onWait: () => {} });
    const ended = expect(first).rejects.toThrow("cancelled");
    await advance(10);
    cancelled.abort(new Error("cancelled"));
    await ended;
    expect(await isAdmitted(waits, "c")).toBe(true);
    expect(await isAdmitted(waits, "d")).toBe(false);
  });

  it("if the gate does not answer its earlier `leave`, after a delay", async () => {
    vi.spyOn(console, "error").mockReturnValue();
    const gate = slowGate({ start: [5], leave: 5 });
    const waits = waitsAt({ ...gate, leave: () => new Promise(() => {}) });
    expect(await isAdmitted(waits, "c")).toBe(true);
    waits.release("c");
    expect(await isAdmitted(waits, "c")).toBe(false);
    await advance(5_000);
    expect(await isAdmitted(waits, "c")).toBe(true);
    expect(await isAdmitted(waits, "d")).toBe(false);
  });
});
