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

/** The memory of a reply that streams for minutes. */
export function memoryContract(wire: Wire): void {
  it("keeps nothing of the conversation while the reply streams", async () => {
    const frames = wire.encode({ text: ["one", "two"], stop: "stop" });
    const body = new TransformStream<Uint8Array, Uint8Array>();
    const writer = body.writable.getWriter();
    const write = (text: string) => void writer.write(new TextEncoder().encode(text));
    const at = frames.findIndex((frame) => frame.includes("one")) + 1;
    write(frames.slice(0, at).join(""));

    const before = liveBytes();
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
      expect(await settledBytes(before + CONVERSATION_BYTES / 4)).toBeLessThan(
        before + CONVERSATION_BYTES / 4,
      );
      write(frames.slice(at).join(""));
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
 * Live memory after the runtime had time to release it: one collection does not free all buffers.
 */
async function settledBytes(enough: number): Promise<number> {
  let least = liveBytes();
  for (let again = 0; again < 10 && least >= enough; again += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    least = Math.min(least, liveBytes());
  }
  return least;
}

function liveBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
