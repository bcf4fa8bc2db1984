import { describe, expect, it } from "vitest";
import { inProvidersWords } from "../../../../durable-objects/shared/outgoing";
import { waitingFetch } from "../../../../durable-objects/session/calls/slot-fetch";
import { performCall } from "../../../../src/agents/perform-call";
import { guardedFetch } from "../../../../src/outgoing/guarded-fetch";
import type { Resolve } from "../../../../src/outgoing/names";
import { type ModelRequest, ProviderError } from "../../../../src/providers/provider";
import { ANTHROPIC } from "../../../contracts/anthropic-wire";
import { FULL, itemsOf, REQUEST } from "../../../contracts/contract-support";
import { GEMINI } from "../../../contracts/gemini-wire";
import { OPENAI_CHAT } from "../../../contracts/openai-chat-wire";
import { OPENAI_RESPONSES } from "../../../contracts/openai-responses-wire";
import type { Wire } from "../../../contracts/wire";
import { endpointAt } from "../../../fakes/endpoint";

const GAVE_WAY =
  "No response after 45 s while other calls waited for a slot, so the call was aborted.";
const WIRES = [ANTHROPIC, GEMINI, OPENAI_CHAT, OPENAI_RESPONSES];

/** A call through the format's SDK, as the session makes it. */
function start(wire: Wire, send: typeof fetch, request: ModelRequest = REQUEST) {
  const way = new AbortController();
  const user = new AbortController();
  const progress = { sent: 0 };
  let told = 0;
  const slot = { onHeaders: () => void told++, giveWay: way.signal };
  const provider = wire.create(
    endpointAt(`https://provider.example.org${wire.basePath}`, {
      fetch: waitingFetch(send, slot, progress),
    }),
  );
  const ended = performCall({
    provider,
    request,
    signal: user.signal,
    wasSent: () => progress.sent > 0,
    onDelta: () => undefined,
  });
  const giveWay = () => way.abort(new ProviderError("transient", "timeout", GAVE_WAY));
  return { ended, giveWay, user, told: () => told, progress };
}

/** Accepts the connection and never answers. Reports when the connection is released. */
function stalled() {
  const asked = Promise.withResolvers<void>();
  let aborted = false;
  const send: typeof fetch = (_input, init) =>
    new Promise((_resolve, reject) => {
      init?.signal?.addEventListener("abort", () => {
        aborted = true;
        reject(new DOMException("The operation was aborted", "AbortError"));
      });
      asked.resolve();
    });
  return { send, asked: asked.promise, isAborted: () => aborted };
}

/** A guard that rejects every address; it only calls `resolve`. */
function guardedBy(resolve: Resolve) {
  let sent = 0;
  const send: typeof fetch = async () => {
    sent += 1;
    throw new Error("Network connection lost.");
  };
  const guarded = guardedFetch({
    fetch: send,
    resolve,
    allowedOrigins: [],
    trustedOrigins: new Set(),
  });
  return { send: inProvidersWords(guarded), sent: () => sent };
}

describe.each(WIRES)("a call in the format of $name", (wire) => {
  it("that yields its slot closes the connection and fails with the reason of the yield", async () => {
    const { send, asked, isAborted } = stalled();
    const { ended, giveWay, told } = start(wire, send);
    await asked;
    giveWay();
    const failure = { class: "transient", code: "timeout", message: GAVE_WAY, reached: true };
    expect(await ended).toMatchObject({ type: "failed", failure });
    expect(isAborted()).toBe(true);
    expect(told()).toBe(1);
  });

  it("that is cancelled while it waits fails with the reason of the cancellation", async () => {
    const { send, asked, isAborted } = stalled();
    const { ended, user, told } = start(wire, send);
    await asked;
    const reason = new Error("cancelled");
    user.abort(reason);
    await expect(ended).rejects.toBe(reason);
    expect(isAborted()).toBe(true);
    expect(told()).toBe(1);
  });

  it("that has received headers continues to its end", async () => {
    const headers = { "content-type": "text/event-stream" };
    const { ended, told } = start(
      wire,
      async () => new Response(wire.encode(FULL).join(""), { headers }),
    );
    expect(await ended).toMatchObject({ type: "replied", items: itemsOf(FULL, wire.givesCallIds) });
    expect(told()).toBe(1);
  });

  it("that must yield before its request is sent sends nothing and costs nothing", async () => {
    let fetches = 0;
    const send: typeof fetch = async () => {
      fetches += 1;
      throw new Error("Network connection lost.");
    };
    const read = Promise.withResolvers<[]>();
    const { ended, giveWay, told } = start(wire, send, {
      ...REQUEST,
      attached: () => read.promise,
    });
    giveWay();
    read.resolve([]);
    expect(await ended).toMatchObject({
      type: "failed",
      failure: { code: "timeout", message: GAVE_WAY, reached: false },
    });
    expect([fetches, told()]).toEqual([0, 1]);
  });

  it.each<{ name: string; resolve: Resolve; code: string }>([
    {
      name: "leads into a private network",
      resolve: async () => ["10.0.0.1"],
      code: "address_refused",
    },
    { name: "does not exist", resolve: async () => [], code: "connection_refused" },
    {
      name: "cannot be looked up",
      resolve: () => Promise.reject(new Error("the resolver is down")),
      code: "name_unresolved",
    },
  ])("to a name that $name sends nothing, and costs nothing", async ({ resolve, code }) => {
    const { send, sent } = guardedBy(resolve);
    const { ended, told } = start(wire, send);
    expect(await ended).toMatchObject({
      type: "failed",
      failure: { code, reached: false, usage: null },
    });
    expect([sent(), told()]).toEqual([0, 1]);
  });

  it("that yields during the name lookup sends nothing and costs nothing", async () => {
    const asked = Promise.withResolvers<void>();
    const { send, sent } = guardedBy((_name, signal) => {
      asked.resolve();
      return new Promise((_resolve, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason)),
      );
    });
    const { ended, giveWay } = start(wire, send);
    await asked.promise;
    giveWay();
    expect(await ended).toMatchObject({
      type: "failed",
      failure: { code: "timeout", message: GAVE_WAY, reached: false },
    });
    expect(sent()).toBe(0);
  });

  it("whose connection is lost after the request was sent may have a cost", async () => {
    const { send, sent } = guardedBy(async () => ["93.184.215.14"]);
    const { ended } = start(wire, send);
    expect(await ended).toMatchObject({
      type: "failed",
      failure: { code: "connection_failed", reached: true },
    });
    expect(sent()).toBe(1);
  });
});

it("a request that was sent stays sent, whether or not the next request of the call is sent", async () => {
  let addresses = ["93.184.215.14"];
  const guarded = guardedFetch({
    fetch: async () => new Response("ok"),
    resolve: async () => addresses,
    allowedOrigins: [],
    trustedOrigins: new Set(),
  });
  const progress = { sent: 0 };
  const slot = { onHeaders: () => undefined, giveWay: new AbortController().signal };
  const send = waitingFetch(inProvidersWords(guarded), slot, progress);
  await (await send("https://llm.example.org/v1")).text();
  addresses = ["10.0.0.1"];
  await expect(send("https://llm.example.org/v1")).rejects.toMatchObject({
    code: "address_refused",
  });
  expect(progress).toEqual({ sent: 1 });
});
