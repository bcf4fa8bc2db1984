import { expect, it } from "vitest";
import type { ModelEvent } from "../../src/providers/provider";
import { endpointAt } from "../fakes/endpoint";
import { type Call, collect, FULL, itemsOf, KEY, REQUEST } from "./contract-support";
import { cutAfter, SSE_HEADERS } from "./raw-server";
import type { Wire } from "./wire";

export function cutsContract(wire: Wire, call: Call): void {
  const frames = wire.encode(FULL);
  const bytes = Buffer.from(frames.join(""));
  const last = frames.findIndex(wire.completes);
  // Without the line end the frame is whole already: parsers hand out what is pending at the end.
  const completeAt = Buffer.byteLength(
    frames
      .slice(0, last + 1)
      .join("")
      .trimEnd(),
  );

  const check = (k: number, { events: got, error }: { events: ModelEvent[]; error: unknown }) => {
    const stop = got.find((event) => event.type === "stop");
    if (k < completeAt) {
      expect(stop, `cut after byte ${k}`).toBeUndefined();
      expect(error, `cut after byte ${k}`).toMatchObject({ failureClass: expect.stringMatching(/transient|interrupted/) });
    } else {
      expect(stop, `cut after byte ${k}`).toMatchObject({ reason: "tool_calls", items: itemsOf(FULL, wire.givesCallIds) });
    }
  };

  it("never take a part for the whole, wherever the stream ends", async () => {
    for (let k = 0; k < bytes.length; k++) {
      const answer = async () => new Response(bytes.subarray(0, k), { headers: SSE_HEADERS });
      const provider = wire.create(endpointAt(`https://provider.test${wire.basePath}`, { apiKey: KEY, fetch: answer }));
      check(k, await collect(provider.stream(REQUEST, new AbortController().signal)));
    }
  });

  it("never take a part for the whole, wherever the connection breaks", async () => {
    for (let k = 0; k < bytes.length; k += 97) check(k, await call(cutAfter(bytes.subarray(0, k))));
  });
}
