import { EventEmitter, once } from "node:events";
import { expect, it } from "vitest";
import type { ModelEvent } from "../../src/providers/provider";
import { SYSTEM_TIMERS } from "../../src/async/clock";
import { withTimeLimits } from "../../src/providers/time-limits";
import { ManualTimers } from "../providers/manual-timers";
import { closesSoon, collect, create, FULL, itemsOf, REQUEST, USAGE } from "./contract-support";
import {
  events,
  type RawServer,
  type Script,
  SSE_HEADERS,
  silentAfter,
} from "../../simulated/raw-server";
import type { Wire } from "./wire";

export function abortContract(wire: Wire, server: () => RawServer): void {
  const [first = "", second = ""] = wire.encode({ text: ["x"], stop: "stop" });

  it.each<{ name: string; script: Script }>([
    { name: "an abort before the provider responds", script: () => undefined },
    { name: "an abort in the middle of a reply", script: silentAfter(first + second) },
    {
      name: "an abort in the middle of an error body",
      script: (response) => void response.writeHead(500).write("sorr"),
    },
  ])("$name closes the connection and throws the reason of the abort", async ({ script }) => {
    server().answer(script);
    const user = new AbortController();
    const reading = collect(create(wire, server().origin).stream(REQUEST, user.signal));
    await server().request();
    await new Promise((resolve) => setTimeout(resolve, 30));
    const reason = new Error("cancelled");
    user.abort(reason);
    expect((await reading).error).toBe(reason);
    await closesSoon(server());
  });

  it("a call that is aborted before it starts sends nothing", async () => {
    server().answer(silentAfter(""));
    const reason = new Error("too late");
    const { error } = await collect(
      create(wire, server().origin).stream(REQUEST, AbortSignal.abort(reason)),
    );
    expect(error).toBe(reason);
    expect(server().received).toEqual([]);
  });

  it("an abort takes precedence over buffered events", async () => {
    server().answer(events(wire.encode(FULL)));
    const user = new AbortController();
    const reason = new Error("enough");
    const got: ModelEvent[] = [];
    const read = async () => {
      for await (const event of create(wire, server().origin).stream(REQUEST, user.signal)) {
        got.push(event);
        user.abort(reason);
      }
    };
    await expect(read()).rejects.toBe(reason);
    expect(got).toHaveLength(1);
  });

  it("a caller that stops reading aborts the call", async () => {
    server().answer(silentAfter(wire.encode(FULL).slice(0, 4).join("")));
    for await (const _ of create(wire, server().origin).stream(
      REQUEST,
      new AbortController().signal,
    ))
      break;
    await closesSoon(server());
  });
}

/** Cases of servers that send a complete reply and leave the connection open. */
export function openEndContract(wire: Wire, server: () => RawServer): void {
  /**
   * The adapter waits 3 s for late events. The limit is higher, so that a slow machine does not
   * fail a test.
   */
  const SOON_MS = 10_000;
  const frames = wire.encode(FULL);
  const completeFrames = frames.findIndex(wire.completes) + 1;
  const lateFrames = frames.slice(completeFrames).filter((frame) => !frame.includes("[DONE]"));

  it.each<{ name: string; script: Script; usage: object | null }>([
    {
      name: "a complete reply",
      script: silentAfter(frames.slice(0, completeFrames).join("")),
      usage: lateFrames.some((frame) => frame.includes('"usage"')) ? null : USAGE,
    },
    {
      name: "a complete reply with usage 500 ms later",
      script: async (response, received) => {
        await silentAfter(frames.slice(0, completeFrames).join(""))(response, received);
        await new Promise((resolve) => setTimeout(resolve, 500));
        response.write(lateFrames.join(""));
      },
      usage: USAGE,
    },
  ])(
    "$name is returned although the connection stays open",
    { timeout: 30_000 },
    async ({ script, usage }) => {
      server().answer(script);
      const startedAt = performance.now();
      const { events: got, error } = await collect(
        create(wire, server().origin).stream(REQUEST, new AbortController().signal),
      );
      expect(error).toBeUndefined();
      const items = itemsOf(FULL, wire.givesCallIds);
      expect(got.at(-1)).toMatchObject({ type: "stop", reason: "tool_calls", items, usage });
      expect(performance.now() - startedAt).toBeLessThan(SOON_MS);
      await closesSoon(server());
    },
  );
}

type Timeout = { name: string; script: Script; limits: object; message: RegExp };

/** Providers that keep a call waiting, with the time limit that ends each wait. */
const timeouts = (frames: readonly string[]): Timeout[] => [
  {
    name: "a provider that sends no headers",
    script: () => undefined,
    limits: { firstByteMs: 60 },
    message: /first byte/,
  },
  {
    name: "a provider that sends headers only",
    script: silentAfter(""),
    limits: { firstByteMs: 60 },
    message: /first byte/,
  },
  {
    name: "a provider that stops sending in the middle",
    script: silentAfter(frames.slice(0, 3).join("")),
    limits: { idleMs: 60 },
    message: /No data arrived/,
  },
  {
    name: "a provider that sends comments without end",
    script: withEndlessComments(frames.slice(0, 3)),
    limits: { totalMs: 150 },
    message: /total/,
  },
];

export function timeContract(wire: Wire, server: () => RawServer): void {
  const frames = wire.encode(FULL);
  it.each(timeouts(frames))("end a call to $name", async ({ script, limits, message }) => {
    server().answer(script);
    const limitsOfCall = { firstByteMs: 5_000, idleMs: 5_000, totalMs: 5_000, ...limits };
    const provider = withTimeLimits(create(wire, server().origin), limitsOfCall, SYSTEM_TIMERS);
    const { error } = await collect(provider.stream(REQUEST, new AbortController().signal));
    expect(error).toMatchObject({
      failureClass: "transient",
      code: "timeout",
      message: expect.stringMatching(message),
    });
    await closesSoon(server());
  });

  it("do not end a call while comments arrive, although comments are not events", async () => {
    const timers = new ManualTimers(); // so that the load of the machine has no effect
    const emitter = new EventEmitter();
    server().answer(async (response) => {
      response.writeHead(200, SSE_HEADERS);
      for (let n = 0; n < 12; n++) {
        const received = once(emitter, "received");
        response.write(": keep-alive\n\n");
        await received;
        await timers.advance(100);
      }
      response.end(frames.join(""));
    });
    const limits = { firstByteMs: 400, idleMs: 300, totalMs: 10_000 };
    const provider = withTimeLimits(create(wire, server().origin), limits, timers);
    const onBytes = () => void emitter.emit("received");
    const { error } = await collect(
      provider.stream(REQUEST, new AbortController().signal, onBytes),
    );
    expect(error).toBeUndefined();
    expect(timers.now()).toBeGreaterThan(3 * limits.idleMs);
  });
}

/** Sends the frames and then a comment every 10 ms until the connection closes. */
function withEndlessComments(frames: readonly string[]): Script {
  return (response, { closed }) => {
    response.writeHead(200, SSE_HEADERS);
    response.write(frames.join(""));
    const timer = setInterval(() => response.write(": still here\n\n"), 10);
    void closed.then(() => clearInterval(timer));
  };
}
