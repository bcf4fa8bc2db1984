import fc from "fast-check";
import { expect, it } from "vitest";
import { countOf } from "../../../proof/counts";
import { createOpenAiChat } from "../../../src/providers/openai-chat";
import { createDecoder } from "../../../src/providers/openai-chat/decode";
import { type ModelEvent, ProviderError } from "../../../src/providers/provider";
import { FULL, itemsOf, USAGE } from "../../contracts/contract-support";
import { OPENAI_CHAT } from "../../contracts/openai-chat-wire";
import { endpointAt } from "../../fakes/endpoint";
import { BARE_REQUEST } from "../bare-request";

async function read(chunks: readonly Uint8Array[]) {
  const body = () =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    });
  const answer = async () =>
    new Response(body(), { headers: { "content-type": "text/event-stream" } });
  const provider = createOpenAiChat(endpointAt("https://provider.test/v1", { fetch: answer }));
  const events: ModelEvent[] = [];
  for await (const event of provider.stream(BARE_REQUEST, new AbortController().signal))
    events.push(event);
  return events;
}

/** JSON that looks like a chunk in places, because random JSON is ignored at once. */
const value = fc.jsonValue({ maxDepth: 3 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary }, { weight: 1, arbitrary: value });
const call = maybe(
  fc.record(
    {
      index: value,
      id: maybe(fc.string()),
      function: maybe(fc.record({ name: maybe(fc.string()), arguments: value })),
    },
    { requiredKeys: [] },
  ),
);
const delta = fc.record(
  {
    content: value,
    refusal: value,
    reasoning: value,
    reasoning_details: value,
    tool_calls: maybe(fc.array(call)),
    function_call: value,
  },
  { requiredKeys: [] },
);
const chunk = maybe(
  fc.record(
    {
      choices: maybe(fc.array(maybe(fc.record({ delta: maybe(delta), finish_reason: value })))),
      usage: value,
    },
    { requiredKeys: [] },
  ),
);

it("for any chunks of a server, the only error is stream_cut, ids are unique and arguments are text", () => {
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 8 }), (chunks) => {
      const decoder = createDecoder(new Set(["a"]));
      for (const one of chunks) decoder.push(one);
      decoder.push({ choices: [{ delta: {}, finish_reason: "stop" }] });
      const stop = decoder.end();
      const calls =
        stop.type === "stop" ? stop.items.filter((item) => item.type === "tool_call") : [];
      expect(new Set(["a", ...calls.map(({ id }) => id)]).size).toBe(calls.length + 1);
      for (const item of calls) expect(item.arguments).not.toBe("");
    }),
    { numRuns: countOf("decoder_inputs") },
  );
});

it("the reply is the same for any division of the bytes", async () => {
  const bytes = new TextEncoder().encode(OPENAI_CHAT.encode(FULL).join(""));
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
