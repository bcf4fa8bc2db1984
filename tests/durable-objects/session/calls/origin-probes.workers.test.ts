import { connect } from "cloudflare:sockets";
import { describe, expect, inject, it } from "vitest";
import {
  type Connect,
  OriginProbes,
} from "../../../../durable-objects/session/calls/origin-probes";

/** An address without a server: port 1 is reserved. */
const UNREACHABLE = "http://127.0.0.1:1/v1";

/** Probes that use the real `connect()`, with a count of its calls. */
function countingProbes() {
  let connections = 0;
  const counting: Connect = (address) => {
    connections += 1;
    return connect(address);
  };
  return { probes: new OriginProbes(counting), connections: () => connections };
}

describe("a probe in workerd (A2)", () => {
  it("connects to a server that listens, and fails where no server listens", async () => {
    const { probes } = countingProbes();
    expect(await probes.reaches(new URL(inject("providersUrl")), null)).toBe(true);
    expect(await probes.reaches(new URL(UNREACHABLE), null)).toBe(false);
    expect(await probes.reaches(new URL("https://no-such-name.invalid/v1"), null)).toBe(false);
  });

  it("is shared by all calls of a turn to the same origin, also by concurrent calls", async () => {
    const { probes, connections } = countingProbes();
    const url = new URL(inject("providersUrl"));
    const urls = [url, new URL("/other", url)];
    await Promise.all(urls.map((sameOrigin) => probes.reaches(sameOrigin, null)));
    await probes.reaches(url, null);
    expect(connections()).toBe(1);
    probes.forgetAll();
    await probes.reaches(url, null);
    expect(connections()).toBe(2);
  });

  it("is repeated after an unanswered call and after each failed probe", async () => {
    const { probes, connections } = countingProbes();
    const url = new URL(inject("providersUrl"));
    await probes.reaches(url, null);
    probes.forget(url.href);
    await probes.reaches(url, null);
    for (const _ of [1, 2]) await probes.reaches(new URL(UNREACHABLE), null);
    expect(connections()).toBe(4);
  });

  it("ends at its timeout, or at once if its call is aborted", async () => {
    const silent: Connect = () => ({
      opened: new Promise(() => undefined),
      closed: new Promise(() => undefined),
      close: () => Promise.resolve(),
    });
    const url = new URL("https://llm.example.org/v1");
    expect(await new OriginProbes(silent, 20).reaches(url, null)).toBe(false);
    const call = new AbortController();
    const waiting = new OriginProbes(silent, 60_000).reaches(url, call.signal);
    call.abort(new Error("no longer needed"));
    await expect(waiting).rejects.toThrow("no longer needed");
    await expect(new OriginProbes(silent).reaches(url, call.signal)).rejects.toThrow(
      "no longer needed",
    );
  });
});
