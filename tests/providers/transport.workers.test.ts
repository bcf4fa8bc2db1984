import { describe, expect, it } from "vitest";
import { inProvidersWords, isUnsent, type Network } from "../../durable-objects/shared/outgoing";
import { performCall } from "../../src/agents/perform-call";
import { addressGuard } from "../../src/outgoing/address-guard";
import type { Resolve } from "../../src/outgoing/names";
import { BodyEnds } from "../../src/providers/body-ends";
import {
  type ModelRequest,
  ProviderError,
  type TransportHooks,
} from "../../src/providers/provider";
import { transport } from "../../src/providers/transport";
import { ANTHROPIC } from "../contracts/anthropic-wire";
import { FULL, itemsOf, REQUEST } from "../contracts/contract-support";
import { GEMINI } from "../contracts/gemini-wire";
import { OPENAI_CHAT } from "../contracts/openai-chat-wire";
import { OPENAI_RESPONSES } from "../contracts/openai-responses-wire";
import type { Wire } from "../contracts/wire";
import { endpointAt } from "../fakes/endpoint";

const YIELD_MESSAGE =
  "No response came for 45 s while other calls waited, so this one gave way to them.";
const WIRES = [ANTHROPIC, GEMINI, OPENAI_CHAT, OPENAI_RESPONSES];

/** A network that sends every request and refuses no address. */
const unguarded = (fetch: typeof globalThis.fetch): Network => ({
  guard: (_url, _signal, send) => send(),
  fetch,
});

/** The hooks of a call, and the number of their calls. */
function hooksOf(guard: TransportHooks["guard"]) {
  const yieldController = new AbortController();
  const counted = { built: 0, sent: 0, headers: 0 };
  const hooks: TransportHooks = {
    onBuilt: async () => void counted.built++,
    guard,
    onSend: () => void counted.sent++,
    onFailure: (error) => {
      if (isUnsent(error)) counted.sent--;
    },
    onHeaders: () => void counted.headers++,
    yieldSignal: yieldController.signal,
    readEnd: (reader) => new BodyEnds().read(reader),
  };
  const yieldSlot = () =>
    yieldController.abort(new ProviderError("transient", "timeout", YIELD_MESSAGE));
  return { hooks, counted, yieldSlot };
}

/** Starts a call through the SDK of the format, as a session does. */
function start(wire: Wire, { guard, fetch }: Network, request: ModelRequest = REQUEST) {
  const user = new AbortController();
  const { hooks, counted, yieldSlot } = hooksOf(guard);
  const provider = wire.create(
    endpointAt(`https://provider.example.org${wire.basePath}`, { fetch, hooks }),
  );
  const ended = performCall({
    provider,
    request,
    signal: user.signal,
    wasSent: () => counted.sent > 0,
    onDelta: () => undefined,
  });
  return { ended, yieldSlot, user, counted };
}

/** A server that never responds. `isAborted`: whether its connection was closed. */
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

/** The guard of the service, and a network that is down. */
function guardedBy(resolve: Resolve) {
  let sent = 0;
  const fetch: Network["fetch"] = async () => {
    sent += 1;
    throw new Error("Network connection lost.");
  };
  const guard = addressGuard({ resolve, allowedOrigins: [], trustedOrigins: new Set() });
  return { network: { guard: inProvidersWords(guard), fetch }, sent: () => sent };
}

describe.each(WIRES)("a call in the format of $name", (wire) => {
  it("that must yield its slot closes its connection and fails with the reason of the signal", async () => {
    const { send, asked, isAborted } = stalled();
    const { ended, yieldSlot, counted } = start(wire, unguarded(send));
    await asked;
    yieldSlot();
    const failure = { class: "transient", code: "timeout", message: YIELD_MESSAGE, reached: true };
    expect(await ended).toMatchObject({ type: "failed", failure });
    expect(isAborted()).toBe(true);
    expect(counted).toEqual({ built: 1, sent: 1, headers: 1 });
  });

  it("that is cancelled before its headers ends with the reason of the cancellation", async () => {
    const { send, asked, isAborted } = stalled();
    const { ended, user, counted } = start(wire, unguarded(send));
    await asked;
    const reason = new Error("cancelled");
    user.abort(reason);
    await expect(ended).rejects.toBe(reason);
    expect(isAborted()).toBe(true);
    expect(counted).toEqual({ built: 1, sent: 1, headers: 1 });
  });

  it("runs to its end if it must yield after its headers have arrived", async () => {
    const headers = { "content-type": "text/event-stream" };
    const { ended, counted } = start(
      wire,
      unguarded(async () => new Response(wire.encode(FULL).join(""), { headers })),
    );
    expect(await ended).toMatchObject({ type: "replied", items: itemsOf(FULL, wire.givesCallIds) });
    expect(counted).toEqual({ built: 1, sent: 1, headers: 1 });
  });

  it("that must yield before its request is sent sends nothing and costs nothing", async () => {
    let fetches = 0;
    const send: typeof fetch = async () => {
      fetches += 1;
      throw new Error("Network connection lost.");
    };
    const read = Promise.withResolvers<[]>();
    const { ended, yieldSlot, counted } = start(wire, unguarded(send), {
      ...REQUEST,
      attached: () => read.promise,
    });
    yieldSlot();
    read.resolve([]);
    expect(await ended).toMatchObject({
      type: "failed",
      failure: { code: "timeout", message: YIELD_MESSAGE, reached: false },
    });
    expect([fetches, counted]).toEqual([0, { built: 1, sent: 0, headers: 1 }]);
  });

  it.each<{ name: string; resolve: Resolve; code: string }>([
    {
      name: "that resolves to a private network",
      resolve: async () => ["10.0.0.1"],
      code: "address_refused",
    },
    { name: "that does not exist", resolve: async () => [], code: "connection_refused" },
    {
      name: "that cannot be looked up",
      resolve: () => Promise.reject(new Error("the resolver is down")),
      code: "name_unresolved",
    },
  ])("to a name $name sends nothing, and costs nothing", async ({ resolve, code }) => {
    const { network, sent } = guardedBy(resolve);
    const { ended, counted } = start(wire, network);
    expect(await ended).toMatchObject({
      type: "failed",
      failure: { code, reached: false, usage: null },
    });
    expect([sent(), counted]).toEqual([0, { built: 1, sent: 0, headers: 1 }]);
  });

  it("that must yield while its host name is resolved sends nothing and costs nothing", async () => {
    const asked = Promise.withResolvers<void>();
    const { network, sent } = guardedBy((_name, signal) => {
      asked.resolve();
      return new Promise((_resolve, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason)),
      );
    });
    const { ended, yieldSlot } = start(wire, network);
    await asked.promise;
    yieldSlot();
    expect(await ended).toMatchObject({
      type: "failed",
      failure: { code: "timeout", message: YIELD_MESSAGE, reached: false },
    });
    expect(sent()).toBe(0);
  });

  it("whose connection is lost after it was sent may have cost something", async () => {
    const { network, sent } = guardedBy(async () => ["93.184.215.14"]);
    const { ended } = start(wire, network);
    expect(await ended).toMatchObject({
      type: "failed",
      failure: { code: "connection_failed", reached: true },
    });
    expect(sent()).toBe(1);
  });
});

it("counts a sent request, but not a refused request after it", async () => {
  let addresses = ["93.184.215.14"];
  const guard = addressGuard({
    resolve: async () => addresses,
    allowedOrigins: [],
    trustedOrigins: new Set(),
  });
  const { hooks, counted } = hooksOf(inProvidersWords(guard));
  const send = transport(
    { fetch: async () => new Response("ok"), apiKey: "", hooks },
    { allowedHeaders: new Set(), onBytes: () => undefined },
  );
  await (await send("https://llm.example.org/v1")).text();
  addresses = ["10.0.0.1"];
  await expect(send("https://llm.example.org/v1")).rejects.toMatchObject({
    code: "address_refused",
  });
  expect(counted).toEqual({ built: 2, sent: 1, headers: 2 });
});
