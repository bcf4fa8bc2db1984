import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { releasableRequest } from "../../durable-objects/session/calls/call-requests";
import { endpointAt } from "../fakes/endpoint";
import { KEY, REQUEST } from "./contract-support";
import { SSE_HEADERS } from "../../simulated/raw-server";
import type { Wire } from "./wire";
import { sentText } from "../providers/sent-body";

const CONVERSATION_BYTES = 8 * 1024 * 1024;

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** The memory of a call while its reply streams, which can take minutes. */
export function memoryContract(wire: Wire): void {
  it("does not contain the conversation while the reply streams", async () => {
    const frames = wire.encode({ text: ["one", "two"], stop: "stop" });
    const body = new TransformStream<Uint8Array, Uint8Array>();
    const writer = body.writable.getWriter();
    const write = (text: string) => void writer.write(new TextEncoder().encode(text));
    const split = frames.findIndex((frame) => frame.includes("one")) + 1;
    write(frames.slice(0, split).join(""));

    const bytesBefore = liveBytes();
    const { request, release } = releasableRequest(longRequest(), () => REQUEST.messages);
    let sentBytes = 0;
    const fetch: typeof globalThis.fetch = async (_, init) => {
      sentBytes = sentText(init?.body).length;
      release();
      return new Response(body.readable, { headers: SSE_HEADERS });
    };
    const provider = wire.create({
      ...endpointAt(`http://127.0.0.1${wire.basePath}`, { apiKey: KEY }),
      fetch,
    });
    const got: string[] = [];
    for await (const event of provider.stream(request, new AbortController().signal)) {
      if (event.type !== "text") continue;
      got.push(event.text);
      if (got.length > 1) continue;
      expect(sentBytes).toBeGreaterThan(CONVERSATION_BYTES);
      expect(await lowestLiveBytes(bytesBefore + CONVERSATION_BYTES / 4)).toBeLessThan(
        bytesBefore + CONVERSATION_BYTES / 4,
      );
      write(frames.slice(split).join(""));
      void writer.close();
    }
    expect(got).toEqual(["one", "two"]);
  });
}

const longRequest = () => ({
  ...REQUEST,
  messages: [
    { role: "user" as const, text: Buffer.alloc(CONVERSATION_BYTES, "x").toString("latin1") },
  ],
});

/**
 * The live memory after several garbage collections, because one collection does not free all
 * buffers. Stops as soon as it is below `limit`.
 */
async function lowestLiveBytes(limit: number): Promise<number> {
  let lowest = liveBytes();
  for (let attempt = 0; attempt < 10 && lowest >= limit; attempt += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    lowest = Math.min(lowest, liveBytes());
  }
  return lowest;
}

function liveBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
