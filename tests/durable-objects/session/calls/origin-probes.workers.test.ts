import { connect } from "cloudflare:sockets";
import { describe, expect, inject, it } from "vitest";
import {
  type Connect,
  OriginProbes,
} from "../../../../durable-objects/session/calls/origin-probes";

/** A reserved port without a server. */
const UNREACHABLE = "http://127.0.0.1:1/v1";

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
  it("connects to a server that listens, and fails where no server listens", async () => {
    const { probes } = counted();
    expect(await probes.reaches(new URL(inject("providersUrl")), null)).toBe(true);
    expect(await probes.reaches(new URL(UNREACHABLE), null)).toBe(false);
    expect(await probes.reaches(new URL("https://no-such-name.invalid/v1"), null)).toBe(false);
  });

  it("is shared by all calls of a turn to an origin, also concurrent calls", async () => {
    const { probes, connections } = counted();
    const url = new URL(inject("providersUrl"));
    await Promise.all([url, new URL("/other", url)].map((one) => probes.reaches(one, null)));
    await probes.reaches(url, null);
    expect(connections()).toBe(1);
    probes.forgetAll();
    await probes.reaches(url, null);
    expect(connections()).toBe(2);
  });

  it("is repeated after an unanswered call and after each failed probe", async () => {
    const { probes, connections } = counted();
    const url = new URL(inject("providersUrl"));
    await probes.reaches(url, null);
    probes.forget(url.href);
    await probes.reaches(url, null);
    for (const _ of [1, 2]) await probes.reaches(new URL(UNREACHABLE), null);
    expect(connections()).toBe(4);
  });

  it("ends at its timeout, and for an aborted call at once", async () => {
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
