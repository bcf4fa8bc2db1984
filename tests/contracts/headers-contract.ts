import { expect, it } from "vitest";
import { HOSTILE_HEADERS } from "../../simulated/providers/hostile-header-providers";
import { endpointAt } from "../fakes/endpoint";
import { type Call, collect, FULL, failed, itemsOf, KEY, REQUEST } from "./contract-support";
import { type Script, SSE_HEADERS, startRawServer } from "../../simulated/raw-server";
import type { Wire } from "./wire";

const replyWith =
  (wire: Wire, headers: Record<string, string | string[]>): Script =>
  (response) =>
    void response.writeHead(200, { ...SSE_HEADERS, ...headers }).end(wire.encode(FULL).join(""));

/** The adapter must ignore all headers of a reply except the content type. */
export function headersContract(wire: Wire, call: Call): void {
  it.each([
    { name: "cookies, refreshes and links", headers: HOSTILE_HEADERS },
    { name: "ten kilobytes of padding", headers: { "x-padding": "x".repeat(10_000) } },
    { name: "the address of another server", headers: { location: "http://169.254.169.254/" } },
  ])(
    "D20 a reply with $name in its headers is read normally, and the next request contains none of them",
    async ({ headers }) => {
      for (const attempt of ["first", "second"]) {
        const { events, error, server } = await call(replyWith(wire, headers));
        expect(error, attempt).toBeUndefined();
        expect(events.at(-1), attempt).toMatchObject({
          type: "stop",
          items: itemsOf(FULL, wire.givesCallIds),
        });
        expect([server.received.length, server.received[0]?.headers.cookie]).toEqual([
          1,
          undefined,
        ]);
        expect(JSON.stringify(events)).not.toMatch(/=hostile|169\.254/);
      }
    },
  );

  it("D20 a reply with a megabyte of headers ends the call as a transient failure", async () => {
    const { events, error, server } = await call(
      replyWith(wire, { "x-padding": "x".repeat(1_000_000) }),
    );
    expect([events, server.received.length]).toEqual([[], 1]);
    expect(error).toMatchObject(failed("transient"));
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(KEY);
  });
}

const METADATA = "http://169.254.169.254/.well-known/oauth-protected-resource";
const pointsTo = (url: string) =>
  `Bearer realm="x", resource_metadata="${url}", authorization_uri="${url}"`;

/** The adapter must not fetch URLs that the headers of a reply contain. */
export function namedUrlsContract(wire: Wire): void {
  it.each([
    {
      name: "a 401 response with a metadata URL",
      status: 401,
      headersTo: (url: string) => ({ "www-authenticate": pointsTo(url) }),
    },
    {
      name: "a 200 response with a location",
      status: 200,
      headersTo: (url: string) => ({ location: url, "content-location": url }),
    },
  ])(
    "D12 $name causes no second request, and its URL is not fetched",
    async ({ status, headersTo }) => {
      const [server, otherServer] = [await startRawServer(), await startRawServer()];
      for (const otherUrl of [METADATA, `${otherServer.origin}/elsewhere`]) {
        const requestedOrigins: string[] = [];
        const recordingFetch: typeof fetch = (input, init) => {
          requestedOrigins.push(new URL(input instanceof Request ? input.url : input).origin);
          return fetch(input, init);
        };
        const body = status === 200 ? wire.encode(FULL).join("") : "{}";
        server.answer(
          (response) =>
            void response.writeHead(status, { ...SSE_HEADERS, ...headersTo(otherUrl) }).end(body),
        );
        const options = endpointAt(server.origin + wire.basePath, {
          apiKey: KEY,
          fetch: recordingFetch,
        });
        const { events, error } = await collect(
          wire.create(options).stream(REQUEST, new AbortController().signal),
        );
        if (status === 200)
          expect([error, events.at(-1)]).toEqual([
            undefined,
            expect.objectContaining({ type: "stop" }),
          ]);
        else expect(error).toMatchObject(failed("bad_credentials"));
        expect([requestedOrigins, server.received.length, otherServer.received.length]).toEqual([
          [server.origin],
          1,
          0,
        ]);
      }
      await Promise.all([server.close(), otherServer.close()]);
    },
  );
}
