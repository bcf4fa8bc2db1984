import { expect, it } from "vitest";
import { createOpenAiChat } from "../../src/providers/openai-chat";
import type { ModelEvent, ModelRequest } from "../../src/providers/provider";
import { itemsOf, FULL, USAGE } from "./contract-support";
import { OPENAI_CHAT } from "./openai-chat-wire";
import { endpointAt } from "../fakes/endpoint";

/** The adapter and its SDK in the runtime they are made for; the provider is a stream in the same isolate. */

const REQUEST: ModelRequest = {
  model: "m",
  system: "",
  messages: [],
  tools: [],
  toolChoice: "auto",
  maxOutputTokens: 1,
  params: {},
  hostedTools: [],
  continues: false,
};
const SSE = { headers: { "content-type": "text/event-stream" } };

function create(answer: typeof fetch) {
  return createOpenAiChat(endpointAt("https://provider.test/v1", { fetch: answer }));
}

it("reads a reply in workerd", async () => {
  const provider = create(async () => new Response(OPENAI_CHAT.encode(FULL).join(""), SSE));
  const events: ModelEvent[] = [];
  for await (const event of provider.stream(REQUEST, new AbortController().signal)) events.push(event);
  expect(events.at(-1)).toEqual({ type: "stop", reason: "tool_calls", items: itemsOf(FULL), usage: USAGE });
});

it("cancels the provider's body when aborted in workerd", async () => {
  const cancelled = Promise.withResolvers<void>();
  const first = new TextEncoder().encode(OPENAI_CHAT.encode(FULL).slice(0, 2).join(""));
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(first),
    cancel: () => cancelled.resolve(),
  });
  const user = new AbortController();
  const reason = new Error("cancelled");
  const read = async () => {
    for await (const _ of create(async () => new Response(body, SSE)).stream(REQUEST, user.signal)) {
      setTimeout(() => user.abort(reason), 20);
    }
  };
  await expect(read()).rejects.toBe(reason);
  await cancelled.promise;
});

it("gives a complete reply whose body stays open in workerd, and cancels the body", async () => {
  const cancelled = Promise.withResolvers<void>();
  const frames = OPENAI_CHAT.encode(FULL).filter((frame) => !frame.includes("[DONE]"));
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(frames.join(""))),
    cancel: () => cancelled.resolve(),
  });
  const events: ModelEvent[] = [];
  for await (const event of create(async () => new Response(body, SSE)).stream(REQUEST, new AbortController().signal)) {
    events.push(event);
  }
  expect(events.at(-1)).toEqual({ type: "stop", reason: "tool_calls", items: itemsOf(FULL), usage: USAGE });
  await cancelled.promise;
});

it("calls an error of the platform an interruption", async () => {
  const provider = create(async () => {
    throw new Error("Durable Object reset because its code was updated.");
  });
  const read = async () => {
    for await (const _ of provider.stream(REQUEST, new AbortController().signal));
  };
  await expect(read()).rejects.toMatchObject({ failureClass: "interrupted", code: "interrupted" });
});

it("takes the runtime's own fetch", async () => {
  const provider = createOpenAiChat(endpointAt("http://127.0.0.1:9/v1"));
  const read = async () => {
    for await (const _ of provider.stream(REQUEST, new AbortController().signal));
  };
  await expect(read()).rejects.toMatchObject({ failureClass: "transient", code: "connection_failed" });
});
