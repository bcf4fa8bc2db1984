import { expect, it } from "vitest";
import type { ModelEvent } from "../../src/providers/provider";
import { endpointAt } from "../fakes/endpoint";
import { type Call, collect, FULL, itemsOf, KEY, REQUEST } from "./contract-support";
import { hostedReply, offered } from "./hosted-contract";
import { cutAfter, SSE_HEADERS } from "../../simulated/raw-server";
import type { Reply, Wire } from "./wire";

/**
 * The bytes of a stream, and a check of the result if only the first `k` bytes arrive. The check
 * knows the number of bytes after which the reply is complete.
 */
function prepareCuts(wire: Wire, reply: Reply) {
  const frames = wire.encode(reply);
  const bytes = Buffer.from(frames.join(""));
  const last = frames.findIndex(wire.completes);
  // A frame is complete even without its line end: at the end of the stream, parsers emit the data.
  const completeAt = Buffer.byteLength(
    frames
      .slice(0, last + 1)
      .join("")
      .trimEnd(),
  );
  const calls = itemsOf(reply, wire.givesCallIds).slice(-(reply.calls?.length ?? 0));
  const check = (k: number, { events: got, error }: { events: ModelEvent[]; error: unknown }) => {
    const stop = got.find((event) => event.type === "stop");
    if (k < completeAt) {
      expect(stop, `cut after byte ${k}`).toBeUndefined();
      expect(error, `cut after byte ${k}`).toMatchObject({
        failureClass: expect.stringMatching(/transient|interrupted/),
      });
    } else {
      expect(stop, `cut after byte ${k}`).toMatchObject({
        reason: "tool_calls",
        items: expect.arrayContaining(calls),
      });
    }
  };
  return { bytes, check };
}

export function cutsContract(wire: Wire, call: Call): void {
  const readUntilEnd = async (bytes: Uint8Array) => {
    const answer = async () => new Response(bytes, { headers: SSE_HEADERS });
    const provider = wire.create(
      endpointAt(`https://provider.test${wire.basePath}`, { apiKey: KEY, fetch: answer }),
    );
    return collect(
      provider.stream({ ...REQUEST, hostedTools: offered(wire) }, new AbortController().signal),
    );
  };

  it("are not accepted as a complete reply, if the stream ends after any number of bytes", async () => {
    const { bytes, check } = prepareCuts(wire, FULL);
    for (let k = 0; k < bytes.length; k++) check(k, await readUntilEnd(bytes.subarray(0, k)));
  });

  it("are not accepted as a complete reply, if the connection breaks after any number of bytes", async () => {
    const { bytes, check } = prepareCuts(wire, FULL);
    for (let k = 0; k < bytes.length; k += 97) check(k, await call(cutAfter(bytes.subarray(0, k))));
  });

  if (wire.hostedTools.length > 0) {
    it("are not accepted as a complete reply, if the reply uses hosted tools", async () => {
      const { bytes, check } = prepareCuts(wire, hostedReply(wire));
      for (let k = 0; k < bytes.length; k += 13) check(k, await readUntilEnd(bytes.subarray(0, k)));
    });
  }
}
