import { describe, expect, it } from "vitest";
import type { ModelEvent, Provider } from "../../src/providers/provider";
import { endpointAt } from "../fakes/endpoint";
import { collect, FULL, itemsOf, REQUEST, USAGE } from "./contract-support";
import type { Wire } from "./wire";

/**
 * The contract of every adapter and its SDK in workerd. The provider is a function in the same
 * isolate.
 */

const SSE = { headers: { "content-type": "text/event-stream" } };
const DONE = { type: "stop", reason: "tool_calls", items: itemsOf(FULL), usage: USAGE };

export function describeWorkerdContract(wire: Wire): void {
  const create = (answer: typeof fetch) =>
    wire.create(endpointAt(`https://provider.test${wire.basePath}`, { fetch: answer }));
  const frames = wire.encode(FULL);

  describe(`${wire.name} in workerd`, () => {
    it("reads a reply", async () => {
      const { events } = await ask(create(async () => new Response(frames.join(""), SSE)));
      expect(events.at(-1)).toEqual(DONE);
    });

    it("cancels the response body when aborted", async () => {
      const { body, cancelled } = openBody(frames.slice(0, Math.ceil(frames.length / 2)));
      expect(await abortedAfterFirst(create(async () => new Response(body, SSE)))).toBe(true);
      await cancelled;
    });

    it("returns a complete reply although the body stays open, and cancels the body", async () => {
      const { body, cancelled } = openBody(frames.filter((frame) => !frame.includes("[DONE]")));
      const { events } = await ask(create(async () => new Response(body, SSE)));
      expect(events.at(-1)).toEqual(DONE);
      await cancelled;
    });

    it("classifies an error of the platform as an interruption", async () => {
      const { error } = await ask(
        create(async () => {
          throw new Error("Durable Object reset because its code was updated.");
        }),
      );
      expect(error).toMatchObject({ failureClass: "interrupted", code: "interrupted" });
    });

    it("works with the fetch function of the runtime", async () => {
      const { error } = await ask(wire.create(endpointAt(`http://127.0.0.1:9${wire.basePath}`)));
      expect(error).toMatchObject({ failureClass: "transient", code: "connection_failed" });
    });
  });
}

const ask = (provider: Provider) => collect(provider.stream(REQUEST, new AbortController().signal));

/** A response body that contains these frames and does not end. */
export function openBody(frames: readonly string[]): {
  body: ReadableStream;
  cancelled: Promise<void>;
} {
  const cancelled = Promise.withResolvers<void>();
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(frames.join(""))),
    cancel: () => cancelled.resolve(),
  });
  return { body, cancelled: cancelled.promise };
}

/** Aborts a call after its first event. Returns whether the call throws the reason of the abort. */
export async function abortedAfterFirst(provider: Provider): Promise<boolean> {
  const user = new AbortController();
  const reason = new Error("cancelled");
  const abortingStream = async function* (): AsyncGenerator<ModelEvent> {
    for await (const event of provider.stream(REQUEST, user.signal)) {
      setTimeout(() => user.abort(reason), 20);
      yield event;
    }
  };
  return (await collect(abortingStream())).error === reason;
}
