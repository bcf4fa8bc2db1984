import fc from "fast-check";
import { expect, it } from "vitest";
import { countOf } from "../../../proof/counts";
import { createOpenAiResponses } from "../../../src/providers/openai-responses";
import { createDecoder } from "../../../src/providers/openai-responses/decode";
import { toBody } from "../../../src/providers/openai-responses/request";
import { type ModelEvent, ProviderError } from "../../../src/providers/provider";
import { FULL, itemsOf, REQUEST, USAGE } from "../../contracts/contract-support";
import { OPENAI_RESPONSES } from "../../contracts/openai-responses-wire";
import { endpointAt } from "../../fakes/endpoint";

async function read(chunks: readonly Uint8Array[]) {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const answer = async () =>
    new Response(body, { headers: { "content-type": "text/event-stream" } });
  const endpoint = endpointAt("https://provider.test/v1", { fetch: answer });
  const events: ModelEvent[] = [];
  for await (const event of createOpenAiResponses(endpoint).stream(
    REQUEST,
    new AbortController().signal,
  ))
    events.push(event);
  return events;
}

/** JSON that looks like an event in places, because random JSON is ignored at once. */
const value = fc.jsonValue({ maxDepth: 1 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary }, { weight: 1, arbitrary: value });
const record = (model: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(model, { requiredKeys: [] });
const words = (...all: string[]) => fc.constantFrom(...all);
const part = maybe(
  record({
    type: words("output_text", "refusal", "summary_text", "reasoning_text", "logs", "image"),
    text: value,
    annotations: value,
  }),
);
const item = maybe(
  record({
    type: words(
      "message",
      "reasoning",
      "function_call",
      "web_search_call",
      "code_interpreter_call",
      "custom_tool_call",
      "new",
    ),
    id: maybe(fc.string()),
    call_id: maybe(fc.string()),
    name: maybe(fc.string()),
    arguments: maybe(fc.string()),
    content: maybe(fc.array(part)),
    summary: maybe(fc.array(part)),
    encrypted_content: value,
    action: maybe(
      record({ type: value, query: value, queries: value, url: value, sources: value }),
    ),
    outputs: maybe(fc.array(part)),
    code: value,
    status: value,
  }),
);
const response = maybe(
  record({
    id: value,
    status: value,
    output: maybe(fc.array(item)),
    usage: value,
    error: value,
    incomplete_details: value,
  }),
);
const event = maybe(
  record({
    type: words(
      "response.created",
      "response.output_text.delta",
      "response.reasoning_summary_part.added",
      "response.reasoning_summary_text.delta",
      "response.output_item.added",
      "response.output_item.done",
      "response.function_call_arguments.delta",
      "response.code_interpreter_call_code.delta",
      "response.custom_tool_call_input.delta",
      "response.output_text.annotation.added",
    ),
    sequence_number: value,
    output_index: maybe(fc.nat(3)),
    summary_index: value,
    delta: maybe(fc.string()),
    item,
    annotation: value,
    response,
  }),
);

it("for any events of a server, ids are unique, arguments are text, and the reply can be stored and sent back", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 8 }), response, (events, last) => {
      const decoder = createDecoder({ takenIds: new Set(["a"]), secrets: [], yieldsPoints: true });
      // Parsed JSON, as on the wire, because JSON cannot represent -0.
      const sent = [...events, { type: "response.completed", response: last }].map((one) =>
        JSON.parse(JSON.stringify(one)),
      );
      for (const one of sent) decoder.push(one);
      const stop = decoder.end();
      const items = stop.type === "stop" ? stop.items : [];
      const calls = items.filter((one) => one.type === "tool_call");
      expect(new Set(["a", ...calls.map(({ id }) => id)]).size).toBe(calls.length + 1);
      for (const one of calls) expect(one.arguments).not.toBe("");
      expect(JSON.parse(JSON.stringify(items))).toEqual(items);
      toBody(
        { ...REQUEST, messages: [{ role: "assistant", items }] },
        endpointAt("https://provider.test").host,
        false,
      );
    }),
    { numRuns: Math.ceil(countOf("decoder_inputs") / 3) },
  );
});

it("the reply is the same for any division of the bytes", async () => {
  const bytes = new TextEncoder().encode(OPENAI_RESPONSES.encode(FULL).join(""));
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
    { numRuns: Math.ceil(countOf("decoder_inputs") / 30) },
  );
});

it("for any lost, repeated or swapped frames, the result is a complete reply or a ProviderError", async () => {
  const frames = OPENAI_RESPONSES.encode(FULL);
  const encode = (text: string) => new TextEncoder().encode(text);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(frames.length - 1), { maxLength: frames.length + 3 }),
      async (order) => {
        const mutated = order.map((n) => encode(frames[n] ?? ""));
        const events = await read(mutated).catch((error: unknown) => error);
        if (!order.includes(frames.length - 1)) expect(events).toBeInstanceOf(ProviderError);
        else
          expect(Array.isArray(events) && events.at(-1)).toMatchObject({
            type: "stop",
            items: itemsOf(FULL),
          });
      },
    ),
    { numRuns: Math.ceil(countOf("decoder_inputs") / 10) },
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
