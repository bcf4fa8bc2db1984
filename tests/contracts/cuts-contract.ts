import { expect, it } from "vitest";
import type { ModelEvent } from "../../src/providers/provider";
import { endpointAt } from "../fakes/endpoint";
import { type Call, collect, FULL, itemsOf, KEY, REQUEST } from "./contract-support";
import { hostedReply, offered } from "./hosted-contract";
import { cutAfter, SSE_HEADERS } from "../../simulated/raw-server";
import type { Reply, Wire } from "./wire";

/**
 * A stream's bytes and the point at which its reply is complete, with a check of the result of the
 * first k bytes.
 */
function cutting(wire: Wire, reply: Reply) {
  const frames = wire.encode(reply);
  const bytes = Buffer.from(frames.join(""));
  const last = frames.findIndex(wire.completes);
  // Without the line end the frame is already complete: parsers emit pending data at the end.
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
  const endedAfter = async (bytes: Uint8Array) => {
    const answer = async () => new Response(bytes, { headers: SSE_HEADERS });
    const provider = wire.create(
      endpointAt(`https://provider.test${wire.basePath}`, { apiKey: KEY, fetch: answer }),
    );
    return collect(
      provider.stream({ ...REQUEST, hostedTools: offered(wire) }, new AbortController().signal),
    );
  };

  it("are never treated as a whole reply, at any end of the stream", async () => {
    const { bytes, check } = cutting(wire, FULL);
    for (let k = 0; k < bytes.length; k++) check(k, await endedAfter(bytes.subarray(0, k)));
  });

  it("are never treated as a whole reply, at any break of the connection", async () => {
    const { bytes, check } = cutting(wire, FULL);
    for (let k = 0; k < bytes.length; k += 97) check(k, await call(cutAfter(bytes.subarray(0, k))));
  });

  if (wire.hostedTools.length > 0) {
    it("of hosted tools are never treated as whole", async () => {
      const { bytes, check } = cutting(wire, hostedReply(wire));
      for (let k = 0; k < bytes.length; k += 13) check(k, await endedAfter(bytes.subarray(0, k)));
    });
  }
}
