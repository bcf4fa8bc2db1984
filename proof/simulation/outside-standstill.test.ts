import { beforeAll, describe, expect, it } from "vitest";
import type { NumberedEvent } from "../../checker";
import { problemsOf, SITUATION } from "./correct-run";
import type { Fault } from "./engine/faults";
import { play } from "./engine/judge";
import type { RunRecord } from "./engine/run-record";

let run: RunRecord;
beforeAll(async () => {
  run = await play(SITUATION);
});

describe("a pause of a run after its last fault", () => {
  const at = (ms: number): number => run.endedAt + ms;
  /** The log grows after this pause again; its last event schedules a retry or not. */
  function pausing(ms: number, retryMs: number | null, isBegun = false): RunRecord {
    const started = run.log.find(({ type }) => type === "call.started");
    if (started?.type !== "call.started") throw new Error("the run has no call");
    const head = run.log.length + 1;
    const failed: NumberedEvent = {
      type: "call.failed",
      ...{
        at: at(0),
        sequence_number: head,
        turn: 1,
        attempt: 1,
        agent: started.agent,
        round: 1,
        call: started.call,
      },
      ...{
        class: "transient",
        code: "overloaded",
        message: "",
        usage: null,
        tokens: 0,
        cost_usd: 0,
      },
      retry_at: retryMs === null ? null : at(retryMs),
    };
    const begun = { ...started, at: at(0), sequence_number: head + 1 };
    const log = [...run.log, failed, ...(isBegun ? [begun] : [])];
    const grew = [
      ...run.grew,
      { at: at(0), head: log.length },
      { at: at(ms), head: log.length + 1 },
    ];
    return { ...run, log, grew };
  }

  it.each([
    { name: "of a minute is correct", ms: 60_000, retryMs: null, wrong: false },
    { name: "of more than a minute is a violation", ms: 60_001, retryMs: null, wrong: true },
    {
      name: "of more than a minute is correct while a retry is pending",
      ms: 100_000,
      retryMs: 40_000,
      wrong: false,
    },
    {
      name: "of more than a minute after that retry is a violation",
      ms: 100_001,
      retryMs: 40_000,
      wrong: true,
    },
    {
      name: "of more than a minute is a violation once that retry has started",
      ms: 100_000,
      retryMs: 40_000,
      isBegun: true,
      wrong: true,
    },
  ])("$name", ({ ms, retryMs, isBegun, wrong }) => {
    expect(problemsOf("I13", pausing(ms, retryMs, isBegun)).length > 0).toBe(wrong);
  });
});

describe("a request that was in progress when the last fault struck", () => {
  /**
   * Nothing is logged from the strike until the request ends. Times are seconds after the strike.
   */
  type OpenRequest = { fault?: Fault; headers: number | null; piece: number | null; ends: number };
  function pausesTooLong(request: OpenRequest): boolean {
    const at = (seconds: number | null) =>
      seconds === null ? null : run.endedAt + seconds * 1_000;
    const { reached } = run.platform.providers;
    const [one] = reached;
    if (!one) throw new Error("the run sent no request to a provider");
    const { headers, piece, ends, fault = "no_headers" } = request;
    const grown = at(ends) ?? 0;
    const head = run.log.length;
    reached.push({
      ...one,
      sentAt: run.endedAt,
      headersAt: at(headers),
      chunkAt: at(piece),
      endedAt: grown,
    });
    run.faults.struck.push({ nth: 1, fault, at: run.endedAt, until: run.endedAt, head });
    const problems = problemsOf("I13", { ...run, grew: [...run.grew, { at: grown, head: head + 1 }] });
    run.faults.struck.pop();
    reached.pop();
    return problems.length > 0;
  }

  it.each<OpenRequest & { name: string; wrong: boolean }>([
    {
      name: "without headers, for two minutes plus one",
      headers: null,
      piece: null,
      ends: 180,
      wrong: false,
    },
    { name: "without headers, for longer", headers: null, piece: null, ends: 181, wrong: true },
    {
      name: "without a chunk, for 90 s plus a minute",
      headers: 1,
      piece: null,
      ends: 151,
      wrong: false,
    },
    { name: "without a chunk, for longer", headers: 1, piece: null, ends: 152, wrong: true },
    {
      name: "for 90 s plus a minute after its last chunk",
      headers: 1,
      piece: 400,
      ends: 550,
      wrong: false,
    },
    { name: "for longer after its last chunk", headers: 1, piece: 400, ends: 551, wrong: true },
    {
      name: "twice as long because the clock was set",
      fault: "clock_back",
      headers: 1,
      piece: 400,
      ends: 640,
      wrong: false,
    },
    {
      name: "for longer than that",
      fault: "clock_back",
      headers: 1,
      piece: 400,
      ends: 641,
      wrong: true,
    },
    { name: "for 14 minutes plus one", headers: 1, piece: 890, ends: 900, wrong: false },
    { name: "for longer than any call may take", headers: 1, piece: 890, ends: 901, wrong: true },
  ])("was waited for $name: wrong $wrong", ({ wrong, ...request }) => {
    expect(pausesTooLong(request)).toBe(wrong);
  });
});
