import { describe, expect, it } from "vitest";
import { waitingFetch } from "../../durable-objects/waiting-fetch";
import { performCall } from "../../src/agents/perform-call";
import { ProviderError } from "../../src/providers/provider";
import { ANTHROPIC } from "../contracts/anthropic-wire";
import { FULL, itemsOf, REQUEST } from "../contracts/contract-support";
import { GEMINI } from "../contracts/gemini-wire";
import { OPENAI_CHAT } from "../contracts/openai-chat-wire";
import { OPENAI_RESPONSES } from "../contracts/openai-responses-wire";
import type { Wire } from "../contracts/wire";
import { endpointAt } from "../fakes/endpoint";

const GAVE_WAY = "No response came for 45 s while other calls waited, so this one gave way to them.";
const WIRES = [ANTHROPIC, GEMINI, OPENAI_CHAT, OPENAI_RESPONSES];

/** A call through the format's SDK, as the session makes it. */
function start(wire: Wire, send: typeof fetch) {
  const way = new AbortController();
  const user = new AbortController();
  const headers = { came: false };
  let told = 0;
  const slot = { onHeaders: () => void told++, giveWay: way.signal };
  const provider = wire.create(endpointAt(`https://provider.test${wire.basePath}`, { fetch: waitingFetch(send, slot, headers) }));
  const ended = performCall({
    provider,
    request: REQUEST,
    signal: user.signal,
    headersCame: () => headers.came,
    onDelta: () => undefined,
  });
  const giveWay = () => way.abort(new ProviderError("transient", "timeout", GAVE_WAY));
  return { ended, giveWay, user, told: () => told };
}

/** Accepts and never answers; tells when it is let go of. */
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

describe.each(WIRES)("a call in the format of $name", (wire) => {
  it("that gives way lets go of the connection and fails with those words", async () => {
    const { send, asked, isAborted } = stalled();
    const { ended, giveWay, told } = start(wire, send);
    await asked;
    giveWay();
    const failure = { class: "transient", code: "timeout", message: GAVE_WAY, reached: true };
    expect(await ended).toMatchObject({ type: "failed", failure });
    expect(isAborted()).toBe(true);
    expect(told()).toBe(1);
  });

  it("that is cancelled while it waits ends with the canceller's reason", async () => {
    const { send, asked, isAborted } = stalled();
    const { ended, user, told } = start(wire, send);
    await asked;
    const reason = new Error("cancelled");
    user.abort(reason);
    await expect(ended).rejects.toBe(reason);
    expect(isAborted()).toBe(true);
    expect(told()).toBe(1);
  });

  it("whose headers have come goes on to its end", async () => {
    const headers = { "content-type": "text/event-stream" };
    const { ended, told } = start(wire, async () => new Response(wire.encode(FULL).join(""), { headers }));
    expect(await ended).toMatchObject({ type: "replied", items: itemsOf(FULL, wire.givesCallIds) });
    expect(told()).toBe(1);
  });
});
