import { describe, expect, it } from "vitest";
import type { ModelEvent, Provider } from "../../src/providers/provider";
import { withTimeLimits } from "../../src/providers/time-limits";
import { ManualTimers, settled } from "./manual-timers";
import { BARE_REQUEST } from "./bare-request";

const LIMITS = { firstByteMs: 120, idleMs: 90, totalMs: 1000 };
const piece = (text: string): ModelEvent => ({ type: "text", text });

/** A provider with events that the test sends one by one. */
function manualProvider() {
  let wake: () => void = () => undefined;
  const queue: ModelEvent[] = [];
  const callState = {
    signal: new AbortController().signal,
    onBytes: (): void => undefined,
    ended: false,
  };
  const provider: Provider = {
    id: "manual",
    async *stream(_request, signal, onBytes) {
      Object.assign(callState, { signal, onBytes: onBytes ?? callState.onBytes });
      signal.addEventListener("abort", () => wake());
      try {
        for (;;) {
          signal.throwIfAborted();
          const event = queue.shift();
          if (event) yield event;
          if (event?.type === "stop") return;
          if (!event)
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        }
      } finally {
        callState.ended = true;
      }
    },
  };
  const send = async (event: ModelEvent) => {
    queue.push(event);
    wake();
    await settled();
  };
  return { provider, callState, send };
}

async function start() {
  const timers = new ManualTimers();
  const manual = manualProvider();
  const user = new AbortController();
  const got: ModelEvent[] = [];
  let failure: unknown;
  let done = false;
  const read = async () => {
    try {
      for await (const event of withTimeLimits(manual.provider, LIMITS, timers).stream(
        BARE_REQUEST,
        user.signal,
      ))
        got.push(event);
    } catch (error) {
      failure = error;
    }
    done = true;
  };
  const reading = read();
  await settled();
  return { timers, user, got, ...manual, reading, failure: () => failure, done: () => done };
}

const STOP: ModelEvent = { type: "stop", reason: "stop", items: [], usage: null };
const timeout = (message: RegExp) =>
  expect.objectContaining({
    failureClass: "transient",
    code: "timeout",
    message: expect.stringMatching(message),
  });

describe("time limits", () => {
  it("abort a call whose first byte does not arrive in time", async () => {
    const run = await start();
    await run.timers.advance(119);
    expect(run.done()).toBe(false);
    await run.timers.advance(1);
    expect(run.failure()).toEqual(timeout(/first byte took longer than 120 ms/));
    expect(run.callState.signal.aborted).toBe(true);
    expect(run.timers.waiting).toBe(0);
  });

  it("fail a silent call exactly at the limit", async () => {
    const run = await start();
    await run.timers.advance(5);
    await run.send(piece("a"));
    await run.timers.advance(89);
    expect(run.done()).toBe(false);
    await run.timers.advance(1);
    expect(run.failure()).toEqual(timeout(/No data arrived for 90 ms/));
  });

  it("fail a call that takes too long even if events keep arriving", async () => {
    const run = await start();
    for (let at = 0; at < 1000; at += 50) {
      expect(run.done()).toBe(false);
      await run.send(piece("a"));
      await run.timers.advance(50);
    }
    expect(run.failure()).toEqual(timeout(/longer than 1000 ms in total/));
  });

  it("count keep-alive bytes without an event as activity", async () => {
    const run = await start();
    for (let at = 0; at < 800; at += 80) {
      run.callState.onBytes();
      await run.timers.advance(80);
    }
    expect(run.done()).toBe(false);
    await run.send(STOP);
    expect(run.got).toEqual([STOP]);
  });

  it("do not affect a reply in time, and leave no timer running", async () => {
    const run = await start();
    await run.send(piece("a"));
    await run.send(STOP);
    await run.reading;
    expect(run.got).toEqual([piece("a"), STOP]);
    expect(run.failure()).toBeUndefined();
    expect(run.timers.waiting).toBe(0);
  });

  it("do not set a timer per chunk", async () => {
    const run = await start();
    for (let n = 0; n < 500; n++) await run.send(piece("a"));
    expect(run.timers.asked).toBeLessThan(5);
    await run.send(STOP);
    expect(run.got).toHaveLength(501);
  });

  it("do not replace the reason when the caller aborts", async () => {
    const run = await start();
    await run.send(piece("a"));
    const reason = new Error("cancelled by the user");
    run.user.abort(reason);
    await run.reading;
    expect(run.failure()).toBe(reason);
    expect(run.timers.waiting).toBe(0);
  });

  it("do not count the time that the caller spends", async () => {
    const timers = new ManualTimers();
    const manual = manualProvider();
    const events = withTimeLimits(manual.provider, LIMITS, timers)
      .stream(BARE_REQUEST, new AbortController().signal)
      [Symbol.asyncIterator]();
    const first = events.next();
    await manual.send(piece("a"));
    await first;
    await timers.advance(500); // the caller is busy
    const second = events.next();
    await timers.advance(89);
    await manual.send(piece("b"));
    expect(await second).toEqual({ done: false, value: piece("b") });
  });

  it("abort the request when the caller stops reading", async () => {
    const timers = new ManualTimers();
    const manual = manualProvider();
    await Promise.all([
      manual.send(piece("a")),
      (async () => {
        for await (const _ of withTimeLimits(manual.provider, LIMITS, timers).stream(
          BARE_REQUEST,
          new AbortController().signal,
        ))
          break;
      })(),
    ]);
    expect(manual.callState).toMatchObject({ ended: true });
    expect(manual.callState.signal.aborted).toBe(true);
    expect(timers.waiting).toBe(0);
  });

  it("do not abort the request after a complete reply", async () => {
    const timers = new ManualTimers();
    const manual = manualProvider();
    await Promise.all([
      manual.send({ type: "stop", items: [], reason: "stop", usage: null }),
      (async () => {
        for await (const _ of withTimeLimits(manual.provider, LIMITS, timers).stream(
          BARE_REQUEST,
          new AbortController().signal,
        ))
          break;
      })(),
    ]);
    expect(manual.callState).toMatchObject({ ended: true });
    expect(manual.callState.signal.aborted).toBe(false);
    expect(timers.waiting).toBe(0);
  });

  describe.each([{ by: -3_600_000 }, { by: 3_600_000 }])(
    "when the wall clock jumps by $by ms",
    ({ by }) => {
      it("fail a call without a first byte in time", async () => {
        const run = await start();
        await run.timers.advance(100);
        run.timers.jump(by);
        await run.timers.advance(19);
        expect(run.done()).toBe(false);
        await run.timers.advance(1);
        expect(run.failure()).toEqual(timeout(/first byte took longer than 120 ms/));
      });

      it("keep a call with activity, and fail it soon after it becomes silent", async () => {
        const run = await start();
        await run.send(piece("a"));
        run.timers.jump(by);
        await run.timers.advance(80);
        run.callState.onBytes();
        await run.timers.advance(80);
        expect(run.done()).toBe(false);
        await run.timers.advance(90);
        expect(run.failure()).toEqual(timeout(/No data arrived for 90 ms/));
      });

      it("end an active call in time, at any rate of events", async () => {
        const run = await start();
        await run.send(piece("a"));
        for (let at = 0; at < 1000; at += 40) {
          expect(run.done()).toBe(false);
          run.timers.jump(by);
          run.callState.onBytes();
          await run.timers.advance(40);
        }
        expect(run.failure()).toEqual(timeout(/longer than 1000 ms in total/));
      });
    },
  );
});
