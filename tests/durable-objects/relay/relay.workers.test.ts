import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, inject, it } from "vitest";
import { Relays } from "../../../durable-objects/session/calls/relays";
import type { OpenRequests } from "../../../simulated/providers/echo-server";

const SESSION = "session of these tests";
const echo = (path: string): string => `${inject("echoUrl")}${path}`;
const idOf = (number: number) => env.RELAYS.idFromName(`${SESSION} ${number}`);
const relay = (number = 0) => new Relays(env.RELAYS, () => idOf(number)).of(number);

/** Ends the object of a relay, as the platform does if its machine fails. */
async function endRelay(number: number): Promise<void> {
  const stub = env.RELAYS.get(idOf(number));
  await runInDurableObject(stub, (_, state) => state.abort("its machine failed")).catch(() => {});
}

const requestsSoFar = async (): Promise<OpenRequests> => (await fetch(echo("/open"))).json();
const opened = (url: string) =>
  expect.poll(async () => (await requestsSoFar()).opened).toContain(url);
const closed = (url: string) =>
  expect.poll(async () => (await requestsSoFar()).closed).toContain(url);

describe("a request through a relay", () => {
  it("arrives with the same method, headers and body as without a relay", async () => {
    const body = JSON.stringify({ text: "é".repeat(1_000) });
    const headers = { "content-type": "application/json", "x-own": "1" };
    const request = { method: "POST", headers, body };
    const received = await (await relay().fetch(echo("/echo"), request)).json();
    expect(received).toMatchObject({ method: "POST", headers, body });
    expect(received).toEqual(await (await fetch(echo("/echo"), request)).json());
  });

  it.each([200, 204, 404, 429, 500])("returns a response with status %i", async (status) => {
    expect((await relay().fetch(echo(`/status/${status}`))).status).toBe(status);
  });

  it("returns a redirect and does not follow it", async () => {
    const response = await relay().fetch(echo("/moved"), { redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([302, "/echo"]);
  });

  it("returns a compressed body unpacked", async () => {
    expect(await (await relay().fetch(echo("/gzip"))).text()).toBe("unpacked");
  });

  it("is closed at the server when it is aborted before the headers arrive", async () => {
    const abort = new AbortController();
    const url = "/silent?aborted";
    const response = relay().fetch(echo(url), { signal: abort.signal });
    const rejected = expect(response).rejects.toThrow("no longer needed");
    await opened(url);
    abort.abort(new Error("no longer needed"));
    await rejected;
    await closed(url);
  });

  it.each(["abort", "cancel"] as const)(
    "is closed at the server when its body is no longer read: %s",
    async (how) => {
      const abort = new AbortController();
      const url = `/stream?${how}`;
      const { body } = await relay().fetch(echo(url), { signal: abort.signal });
      const reader = body?.getReader();
      expect(new TextDecoder().decode((await reader?.read())?.value)).toContain("line");
      if (how === "abort") abort.abort(new Error("no longer needed"));
      else await reader?.cancel();
      await closed(url);
    },
  );
});

describe("a relay was not lost", () => {
  it("if no request was sent", async () => {
    expect(await relay().wasLost()).toBe(false);
  });

  it("if the server breaks the connection without a response, and the error is that of `fetch`", async () => {
    const call = relay();
    const direct = await fetch(echo("/reset")).catch(String);
    await expect(call.fetch(echo("/reset"))).rejects.toThrow(/connection lost/i);
    expect(direct).toMatch(/connection lost/i);
    expect(await call.wasLost()).toBe(false);
  });

  it("if the server breaks the connection within a body", async () => {
    const call = relay();
    const response = await call.fetch(echo("/cut"));
    await expect(response.text()).rejects.toThrow();
    expect(await call.wasLost()).toBe(false);
  });

  it("if the request was aborted", async () => {
    const call = relay();
    await expect(
      call.fetch(echo("/silent?limit"), { signal: AbortSignal.timeout(50) }),
    ).rejects.toThrow();
    expect(await call.wasLost()).toBe(false);
  });

  it("if a server sends the headers of a relay itself", async () => {
    const call = relay();
    const headers = "massgen-relay=other&massgen-relay-failure=a%20failure";
    const response = await call.fetch(echo(`/headers?${headers}`));
    expect(await response.text()).toBe("text");
    expect(await call.wasLost()).toBe(false);
  });
});

describe("a relay was lost", () => {
  it("if its object ended before the headers arrived", async () => {
    const call = relay(1);
    const url = "/silent?lost";
    const rejected = expect(call.fetch(echo(url))).rejects.toThrow();
    await opened(url);
    await endRelay(1);
    await rejected;
    expect(await call.wasLost()).toBe(true);
    await closed(url);
  });

  it("if another object has its name when the call asks", async () => {
    const call = relay(2);
    await (await call.fetch(echo("/echo"))).text();
    expect(await call.wasLost()).toBe(false);
    await endRelay(2);
    expect(await call.wasLost()).toBe(true);
  });

  it("and the next request through it succeeds", async () => {
    await endRelay(3);
    expect((await relay(3).fetch(echo("/echo"))).status).toBe(200);
  });
});

it("requests that wait in one relay do not delay those of another relay, nor each other", async () => {
  const abort = new AbortController();
  const waiting = Array.from({ length: 64 }, (_, nth) =>
    relay(Math.floor(nth / 4)).fetch(echo(`/silent?crowd-${nth}`), { signal: abort.signal }),
  );
  const ended = Promise.allSettled(waiting);
  await expect
    .poll(async () => (await requestsSoFar()).opened.filter((url) => url.includes("crowd")).length)
    .toBe(64);
  abort.abort(new Error("enough"));
  await ended;
});
