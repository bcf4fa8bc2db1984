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
  /**
   * A run that pauses for `ms`. The last event before the pause is a failed call, which is retried
   * after `retryMs` if that is not `null`. `isRetryStarted`: whether the retry starts before the
   * pause.
   */
  function runWithPause(ms: number, retryMs: number | null, isRetryStarted = false): RunRecord {
    const started = run.log.find(({ type }) => type === "call.started");
    if (started?.type !== "call.started") throw new Error("the run has no call");
    const head = run.log.length + 1;
    const failure: NumberedEvent = {
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
    const retry = { ...started, at: at(0), sequence_number: head + 1 };
    const log = [...run.log, failure, ...(isRetryStarted ? [retry] : [])];
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
      name: "is a violation if it ends more than a minute after the time of a pending retry",
      ms: 100_001,
      retryMs: 40_000,
      wrong: true,
    },
    {
      name: "of more than a minute is a violation if the retry has started",
      ms: 100_000,
      retryMs: 40_000,
      isRetryStarted: true,
      wrong: true,
    },
  ])("$name", ({ ms, retryMs, isRetryStarted, wrong }) => {
    expect(problemsOf("I13", runWithPause(ms, retryMs, isRetryStarted)).length > 0).toBe(wrong);
  });
});

describe("a request that was in progress when the last fault struck", () => {
  /**
   * The times of a request in seconds after the last fault: of its headers, of its last chunk, and
   * of its end.
   */
  type OpenRequest = { fault?: Fault; headers: number | null; chunk: number | null; ends: number };
  /**
   * Whether the run violates I13 if the log does not grow from the fault until the request ends.
   */
  function pausesTooLong(request: OpenRequest): boolean {
    const at = (seconds: number | null) =>
      seconds === null ? null : run.endedAt + seconds * 1_000;
    const { received } = run.platform.providers;
    const [anyRequest] = received;
    if (!anyRequest) throw new Error("the run sent no request to a provider");
    const { headers, chunk, ends, fault = "no_headers" } = request;
    const endedAt = at(ends) ?? 0;
    const head = run.log.length;
    received.push({
      ...anyRequest,
      sentAt: run.endedAt,
      headersAt: at(headers),
      chunkAt: at(chunk),
      endedAt,
    });
    run.faults.struck.push({ nth: 1, fault, at: run.endedAt, until: run.endedAt, head });
    const problems = problemsOf("I13", {
      ...run,
      grew: [...run.grew, { at: endedAt, head: head + 1 }],
    });
    run.faults.struck.pop();
    received.pop();
    return problems.length > 0;
  }

  it.each<OpenRequest & { name: string; wrong: boolean }>([
    {
      name: "does not violate I13 without headers for 3 minutes, 2 for the headers and 1 to continue",
      headers: null,
      chunk: null,
      ends: 180,
      wrong: false,
    },
    {
      name: "violates I13 without headers for longer than 3 minutes",
      headers: null,
      chunk: null,
      ends: 181,
      wrong: true,
    },
    {
      name: "does not violate I13 without a chunk for 150 s after its headers",
      headers: 1,
      chunk: null,
      ends: 151,
      wrong: false,
    },
    {
      name: "violates I13 without a chunk for longer than 150 s",
      headers: 1,
      chunk: null,
      ends: 152,
      wrong: true,
    },
    {
      name: "does not violate I13 until 150 s after its last chunk",
      headers: 1,
      chunk: 400,
      ends: 550,
      wrong: false,
    },
    {
      name: "violates I13 more than 150 s after its last chunk",
      headers: 1,
      chunk: 400,
      ends: 551,
      wrong: true,
    },
    {
      name: "does not violate I13 until 240 s after its last chunk if the clock was set",
      fault: "clock_back",
      headers: 1,
      chunk: 400,
      ends: 640,
      wrong: false,
    },
    {
      name: "violates I13 more than 240 s after its last chunk if the clock was set",
      fault: "clock_back",
      headers: 1,
      chunk: 400,
      ends: 641,
      wrong: true,
    },
    {
      name: "does not violate I13 until 15 minutes after its start",
      headers: 1,
      chunk: 890,
      ends: 900,
      wrong: false,
    },
    {
      name: "violates I13 more than 15 minutes after its start, even with a recent chunk",
      headers: 1,
      chunk: 890,
      ends: 901,
      wrong: true,
    },
  ])("$name", ({ wrong, ...request }) => {
    expect(pausesTooLong(request)).toBe(wrong);
  });
});
