import { connect } from "cloudflare:sockets";
import { describe, expect, inject, it } from "vitest";
import {
  type Connect,
  OriginProbes,
} from "../../../../durable-objects/session/calls/origin-probes";

/** Nothing listens there: the port is reserved. */
const NOBODY = "http://127.0.0.1:1/v1";

/** Counts connections of the real `connect()`. */
function counted() {
  let connections = 0;
  const counting: Connect = (address) => {
    connections += 1;
    return connect(address);
  };
  return { probes: new OriginProbes(counting), connections: () => connections };
}

describe("a probe in workerd (A2)", () => {
  it("reaches a server that listens, and none where nobody does", async () => {
    const { probes } = counted();
    expect(await probes.reaches(new URL(inject("providersUrl")), null)).toBe(true);
    expect(await probes.reaches(new URL(NOBODY), null)).toBe(false);
    expect(await probes.reaches(new URL("https://no-such-name.invalid/v1"), null)).toBe(false);
  });

  it("is made once for all calls of a turn to an origin, also at the same time", async () => {
    const { probes, connections } = counted();
    const url = new URL(inject("providersUrl"));
    await Promise.all([url, new URL("/other", url)].map((one) => probes.reaches(one, null)));
    await probes.reaches(url, null);
    expect(connections()).toBe(1);
    probes.forgetAll();
    await probes.reaches(url, null);
    expect(connections()).toBe(2);
  });

  it("is made again after a call that was not answered, and after each probe that failed", async () => {
    const { probes, connections } = counted();
    const url = new URL(inject("providersUrl"));
    await probes.reaches(url, null);
    probes.forget(url.href);
    await probes.reaches(url, null);
    for (const _ of [1, 2]) await probes.reaches(new URL(NOBODY), null);
    expect(connections()).toBe(4);
  });

  it("is not waited for longer than its time, nor by a call that is no longer needed", async () => {
    const silent: Connect = () => ({
      opened: new Promise(() => undefined),
      closed: new Promise(() => undefined),
      close: () => Promise.resolve(),
    });
    const url = new URL("https://llm.example.org/v1");
    expect(await new OriginProbes(silent, 20).reaches(url, null)).toBe(false);
    const needed = new AbortController();
    const waiting = new OriginProbes(silent, 60_000).reaches(url, needed.signal);
    needed.abort(new Error("no longer needed"));
    await expect(waiting).rejects.toThrow("no longer needed");
    await expect(new OriginProbes(silent).reaches(url, needed.signal)).rejects.toThrow(
      "no longer needed",
    );
  });
});
