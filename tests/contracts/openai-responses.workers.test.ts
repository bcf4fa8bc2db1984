import { expect, it } from "vitest";
import { hostById } from "../../src/providers/hosts";
import { createOpenAiResponses } from "../../src/providers/openai-responses";
import type { ModelEvent, ProviderOptions } from "../../src/providers/provider";
import { endpointAt } from "../fakes/endpoint";
import { FULL, itemsOf, REQUEST, USAGE } from "./contract-support";
import { OPENAI_RESPONSES } from "./openai-responses-wire";

/** The adapter and its SDK in the runtime they are made for; the provider is a stream in the same isolate. */

const SSE = { headers: { "content-type": "text/event-stream" } };

const create = (answer: typeof fetch, options: Partial<ProviderOptions> = {}) =>
  createOpenAiResponses(endpointAt("https://provider.test/v1", { fetch: answer, ...options }));

it("reads a reply in workerd", async () => {
  const provider = create(async () => new Response(OPENAI_RESPONSES.encode(FULL).join(""), SSE));
  const events: ModelEvent[] = [];
  for await (const event of provider.stream(REQUEST, new AbortController().signal)) events.push(event);
  expect(events.at(-1)).toEqual({ type: "stop", reason: "tool_calls", items: itemsOf(FULL), usage: USAGE });
});

it("cancels the provider's body, and a reply in the background, when aborted in workerd", async () => {
  const cancelled = Promise.withResolvers<void>();
  const first = new TextEncoder().encode(OPENAI_RESPONSES.encode(FULL).slice(0, 4).join(""));
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(first),
    cancel: () => cancelled.resolve(),
  });
  const stopped = Promise.withResolvers<string>();
  const answer: typeof fetch = async (input) => {
    if (!String(input).endsWith("/cancel")) return new Response(body, SSE);
    stopped.resolve(String(input));
    return Response.json({ id: "resp_1", status: "cancelled" });
  };
  const user = new AbortController();
  const reason = new Error("cancelled");
  const read = async () => {
    for await (const _ of create(answer, { background: true, host: hostById("openai") }).stream(REQUEST, user.signal)) {
      setTimeout(() => user.abort(reason), 20);
    }
  };
  await expect(read()).rejects.toBe(reason);
  await cancelled.promise;
  expect(await stopped.promise).toBe("https://provider.test/v1/responses/resp_1/cancel");
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
