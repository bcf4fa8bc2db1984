import { expect, it } from "vitest";
import { RUDE_HEADERS } from "../rude-providers";
import { type Call, FULL, failed, itemsOf, KEY } from "./contract-support";
import { type Script, SSE_HEADERS } from "./raw-server";
import type { Wire } from "./wire";

/** What a reply's headers may say besides its kind: nothing comes of it. */
export function headersContract(wire: Wire, call: Call): void {
  const replyWith =
    (headers: Record<string, string | string[]>): Script =>
    (response) =>
      void response.writeHead(200, { ...SSE_HEADERS, ...headers }).end(wire.encode(FULL).join(""));

  it.each([
    { name: "cookies, refreshes and links", headers: RUDE_HEADERS },
    { name: "ten kilobytes more than it needs", headers: { "x-padding": "x".repeat(10_000) } },
    { name: "the address of another place", headers: { location: "http://169.254.169.254/" } },
  ])(
    "D20 a reply with $name in its headers is read like any other, and the next request brings nothing back",
    async ({ headers }) => {
      for (const nth of ["first", "second"]) {
        const { events, error, server } = await call(replyWith(headers));
        expect(error, nth).toBeUndefined();
        expect(events.at(-1), nth).toMatchObject({ type: "stop", items: itemsOf(FULL, wire.givesCallIds) });
        expect([server.received.length, server.received[0]?.headers.cookie]).toEqual([1, undefined]);
        expect(JSON.stringify(events)).not.toMatch(/rude|169\.254/);
      }
    },
  );

  it("D20 a reply with a megabyte of headers ends the call as a passing failure", async () => {
    const { events, error, server } = await call(replyWith({ "x-padding": "x".repeat(1_000_000) }));
    expect([events, server.received.length]).toEqual([[], 1]);
    expect(error).toMatchObject(failed("transient"));
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(KEY);
  });
}
