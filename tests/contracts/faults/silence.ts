import { describe, expect, it } from "vitest";
import { CALL_TIME_LIMITS } from "../../../src/providers/call-limits";
import { withTimeLimits } from "../../../src/providers/time-limits";
import { endpointAt } from "../../fakes/endpoint";
import { ManualTimers, settled } from "../../providers/manual-timers";
import { collect, FULL, KEY, REQUEST } from "../contract-support";
import { SSE_HEADERS } from "../../../simulated/raw-server";
import type { Wire } from "../wire";

const { firstByteMs, idleMs, totalMs } = CALL_TIME_LIMITS;

/** Tests the time limits of production on a clock that the test advances. */
export function describeSilence(wire: Wire): void {
  const frames = wire.encode(FULL);

  describe(`${wire.name}, silence`, () => {
    it.for([
      {
        name: "without headers ends the call after 120 s",
        initialChunks: null,
        endsAfter: firstByteMs,
      },
      {
        name: "after the headers ends the call after 120 s",
        initialChunks: [],
        endsAfter: firstByteMs,
      },
      {
        name: "in the middle of a reply ends the call after 90 s",
        initialChunks: frames.slice(0, 3),
        endsAfter: idleMs,
      },
    ])("$name", async ({ name, initialChunks, endsAfter }, { task }) => {
      const timers = new ManualTimers();
      const { outcome, closed } = startCall(wire, timers, initialChunks);
      await waitForSdk();
      await timers.advance(endsAfter - 1);
      expect(outcome.error).toBeUndefined();
      await timers.advance(1);
      await waitForSdk();
      expect(outcome.error).toMatchObject({ failureClass: "transient", code: "timeout" });
      expect(closed()).toBe(true);
      task.meta.faults = [
        { fault: `silence ${name}`, format: wire.name, outcome: "timeout", count: 1 },
      ];
    });

    it("interrupted by comments forever ends the call after 14 min in total", async ({ task }) => {
      const timers = new ManualTimers();
      const { outcome, send } = startCall(wire, timers, frames.slice(0, 3));
      for (let at = 0; at < totalMs - 1; at += 60_000) {
        send(": still here\n\n");
        await waitForSdk();
        expect(outcome.error).toBeUndefined();
        await timers.advance(Math.min(60_000, totalMs - 1 - at));
      }
      await timers.advance(1);
      await waitForSdk();
      expect(outcome.error).toMatchObject({
        code: "timeout",
        message: expect.stringMatching(/in total/),
      });
      const fault = "silence broken by comments, 14 min";
      task.meta.faults = [{ fault, format: wire.name, outcome: "timeout", count: 1 }];
    });
  });
}

/**
 * Starts a call to a provider that sends these chunks, and later the chunks of the test. `null`
 * means that not even headers arrive.
 */
function startCall(wire: Wire, timers: ManualTimers, initialChunks: readonly string[] | null) {
  const encoder = new TextEncoder();
  const parts: { controller?: ReadableStreamDefaultController<Uint8Array>; closed: boolean } = {
    closed: false,
  };
  const answer: typeof fetch = (_, init) =>
    new Promise((resolve, reject) => {
      init?.signal?.addEventListener("abort", () => {
        parts.closed = true;
        reject(new DOMException("aborted", "AbortError"));
        parts.controller?.error(new DOMException("aborted", "AbortError"));
      });
      if (initialChunks === null) return;
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          parts.controller = controller;
          for (const frame of initialChunks) controller.enqueue(encoder.encode(frame));
        },
        cancel() {
          parts.closed = true;
        },
      });
      resolve(new Response(body, { headers: SSE_HEADERS }));
    });
  const endpoint = endpointAt(`https://provider.test${wire.basePath}`, {
    apiKey: KEY,
    fetch: answer,
  });
  const provider = withTimeLimits(wire.create(endpoint), CALL_TIME_LIMITS, timers);
  const outcome: { error?: unknown } = {};
  void collect(provider.stream(REQUEST, new AbortController().signal)).then(({ error }) => {
    outcome.error = error ?? "it ended by itself";
  });
  return {
    outcome,
    closed: () => parts.closed,
    send: (text: string) => parts.controller?.enqueue(encoder.encode(text)),
  };
}

/** Waits until the SDKs have no pending work. */
async function waitForSdk(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await settled();
}
