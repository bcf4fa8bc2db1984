import fc from "fast-check";
import { expect, it } from "vitest";
import { countOf } from "../../../proof/counts";
import { createAnthropic } from "../../../src/providers/anthropic";
import { createDecoder } from "../../../src/providers/anthropic/decode";
import { type ModelEvent, ProviderError } from "../../../src/providers/provider";
import { ANTHROPIC } from "../../contracts/anthropic-wire";
import { FULL, itemsOf, USAGE } from "../../contracts/contract-support";
import { endpointAt } from "../../fakes/endpoint";
import { body, request, result, user } from "./requests";

async function read(chunks: readonly Uint8Array[]) {
  const whole = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const answer = async () =>
    new Response(whole, { headers: { "content-type": "text/event-stream" } });
  const provider = createAnthropic(endpointAt("https://provider.test", { fetch: answer }));
  const events: ModelEvent[] = [];
  for await (const event of provider.stream(request(), new AbortController().signal))
    events.push(event);
  return events;
}

/** JSON that looks like an event in places, because random JSON is ignored at once. */
const value = fc.jsonValue({ maxDepth: 3 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary }, { weight: 1, arbitrary: value });
const word = (...words: string[]) => maybe(fc.constantFrom(...words));
const index = maybe(fc.nat(3));
const content = maybe(
  fc.record(
    {
      type: word(
        "text",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "server_tool_use",
        "web_search_tool_result",
        "bash_code_execution_tool_result",
      ),
      id: word("a", "b", ""),
      tool_use_id: word("a", "b"),
      name: word("vote", "a b", "web_search", "bash_code_execution"),
      text: maybe(fc.string()),
      thinking: maybe(fc.string()),
      input: value,
      content: value,
      citations: value,
      signature: value,
      data: value,
    },
    { requiredKeys: ["type"] },
  ),
);
const delta = maybe(
  fc.record(
    {
      type: word(
        "text_delta",
        "thinking_delta",
        "signature_delta",
        "input_json_delta",
        "citations_delta",
      ),
      text: maybe(fc.string()),
      thinking: maybe(fc.string()),
      signature: maybe(fc.string()),
      partial_json: maybe(fc.string()),
      citation: maybe(fc.record({ url: value, title: value })),
    },
    { requiredKeys: ["type"] },
  ),
);
const frame = maybe(
  fc.oneof(
    fc.record({
      type: fc.constant("message_start"),
      message: maybe(fc.record({ content: maybe(fc.array(content)), usage: value })),
    }),
    fc.record({ type: fc.constant("content_block_start"), index, content_block: content }),
    fc.record({ type: fc.constant("content_block_delta"), index, delta }),
    fc.record({ type: fc.constant("content_block_stop"), index }),
    fc.record({
      type: fc.constant("message_delta"),
      delta: maybe(fc.record({ container: value })),
      usage: value,
    }),
  ),
);

it("for any frames of a server, the only error is stream_cut, and stored items can be sent back", () => {
  let whole = 0;
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 12 }), (frames) => {
      const decoder = createDecoder({ takenIds: new Set(["a"]), items: [] });
      try {
        for (const one of [
          ...frames,
          ...[0, 1, 2, 3].map((at) => ({ type: "content_block_stop", index: at })),
        ])
          decoder.push(one);
        decoder.push({ type: "message_delta", delta: { stop_reason: "tool_use" } });
      } catch (error) {
        expect(error).toMatchObject({ code: "stream_cut" });
        return;
      }
      whole += 1;
      const stop = decoder.end();
      const items = stop.type === "stop" ? JSON.parse(JSON.stringify(stop.items)) : [];
      const calls =
        stop.type === "stop" ? stop.items.filter((item) => item.type === "tool_call") : [];
      expect(new Set(["a", ...calls.map(({ id }) => id)]).size).toBe(calls.length + 1);
      const messages = [
        user("q"),
        { role: "assistant" as const, items },
        ...calls.map(({ id }) => result(id)),
        user("go on"),
      ];
      expect(ANTHROPIC.acceptsHistory(body({ messages, continues: true }))).toBeNull();
    }),
    { numRuns: countOf("decoder_inputs") },
  );
  expect(whole).toBeGreaterThan(countOf("decoder_inputs") / 10);
});

it("the reply is the same for any division of the bytes", async () => {
  const bytes = new TextEncoder().encode(ANTHROPIC.encode(FULL).join(""));
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.nat(bytes.length), { maxLength: 30 }), async (cuts) => {
      const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      const pieces = edges.slice(1).map((end, n) => bytes.subarray(edges[n], end));
      expect((await read(pieces)).at(-1)).toEqual({
        type: "stop",
        reason: "tool_calls",
        items: itemsOf(FULL),
        usage: USAGE,
      });
    }),
    { numRuns: Math.ceil(countOf("decoder_inputs") / 15) },
  );
});

it("a stream with changed, missing or repeated bytes gives a reply or a ProviderError", async () => {
  const bytes = new TextEncoder().encode(ANTHROPIC.encode(FULL).join(""));
  await fc.assert(
    fc.asyncProperty(
      fc.nat(bytes.length - 1),
      fc.nat(40),
      fc.uint8Array({ maxLength: 40 }),
      async (at, length, instead) => {
        const events = await read([
          bytes.subarray(0, at),
          instead,
          bytes.subarray(at + length),
        ]).catch((error: unknown) => error);
        if (Array.isArray(events)) expect(events.at(-1)).toMatchObject({ type: "stop" });
        else expect(events).toBeInstanceOf(ProviderError);
      },
    ),
    { numRuns: Math.ceil(countOf("decoder_inputs") / 3) },
  );
});

it("random bytes instead of a stream give a ProviderError", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 5 }),
      async (noise) => {
        await expect(read(noise)).rejects.toBeInstanceOf(ProviderError);
      },
    ),
    { numRuns: Math.ceil(countOf("decoder_inputs") / 10) },
  );
});
