import fc from "fast-check";
import { expect, it } from "vitest";
import { countOf } from "../../../proof/counts";
import { createDecoder } from "../../../src/providers/gemini/decode";
import { MAX_REPLY_CHARS } from "../../../src/providers/call-limits";
import { FULL, itemsOf, USAGE } from "../../contracts/contract-support";
import { GEMINI } from "../../contracts/gemini-wire";
import { decode, part, replay } from "./calls";

/** JSON that looks like a chunk in places, because random JSON is ignored at once. */
const value = fc.jsonValue({ maxDepth: 3 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary }, { weight: 1, arbitrary: value });
const some = (fields: Record<string, fc.Arbitrary<unknown>>) =>
  maybe(fc.record(fields, { requiredKeys: [] }));
const parts = maybe(
  fc.array(
    some({
      text: maybe(fc.string()),
      thought: maybe(fc.boolean()),
      thoughtSignature: maybe(fc.string()),
      functionCall: some({
        id: maybe(fc.constantFrom("a", "b")),
        name: maybe(fc.string()),
        args: value,
      }),
      executableCode: some({ code: value }),
      codeExecutionResult: some({ outcome: value, output: value }),
      toolCall: some({ args: some({ queries: maybe(fc.array(maybe(fc.string()))) }) }),
      inlineData: value,
    }),
  ),
);
const grounding = some({
  webSearchQueries: maybe(fc.array(maybe(fc.string()))),
  groundingChunks: maybe(fc.array(some({ web: some({ uri: value, title: value }) }))),
  groundingSupports: maybe(
    fc.array(some({ segment: some({ text: value }), groundingChunkIndices: value })),
  ),
});
const candidate = some({
  index: value,
  content: some({ parts }),
  finishReason: value,
  groundingMetadata: grounding,
});
const chunk = some({
  candidates: maybe(fc.array(candidate)),
  usageMetadata: value,
  promptFeedback: value,
});

it("for any response of a server, the reply has unique ids, object arguments, and parts that can be stored", () => {
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 8 }), (chunks) => {
      const decoder = createDecoder("gemini-3.8-flash", new Set(["a"]));
      // Parsed JSON, because JSON.stringify writes -0 as 0.
      for (const one of JSON.parse(JSON.stringify(chunks))) decoder.push(one);
      decoder.push({ candidates: [{ finishReason: "STOP" }] });
      const stop = decoder.end();
      if (stop.type !== "stop") throw new Error("no stop");
      const calls = stop.items.filter((item) => item.type === "tool_call");
      expect(new Set(["a", ...calls.map(({ id }) => id)]).size).toBe(calls.length + 1);
      for (const call of calls) expect(call.arguments).toMatch(/^\{/);
      expect(JSON.parse(JSON.stringify(stop.items))).toEqual(stop.items);
    }),
    { numRuns: Math.ceil(countOf("decoder_inputs") / 3) },
  );
});

it("the reply is the same for any division of the bytes", async () => {
  const bytes = new TextEncoder().encode(GEMINI.encode(FULL).join(""));
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.nat(bytes.length), { maxLength: 30 }), async (cuts) => {
      const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      const pieces = edges.slice(1).map((end, n) => bytes.subarray(edges[n], end));
      const { events } = await replay(streamOf(pieces));
      expect(events.at(-1)).toEqual({
        type: "stop",
        reason: "tool_calls",
        items: itemsOf(FULL),
        usage: USAGE,
      });
    }),
    { numRuns: Math.ceil(countOf("decoder_inputs") / 15) },
  );
});

it("a stream with changed, lost or repeated bytes ends in a stop or in a failure of the provider", async () => {
  const whole = Array.from(new TextEncoder().encode(GEMINI.encode(FULL).join("")));
  const change = fc.record({
    at: fc.nat(whole.length - 1),
    drop: fc.nat(40),
    put: fc.uint8Array({ maxLength: 8 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
      const bytes = [...whole];
      for (const { at, drop, put } of changes) bytes.splice(at, drop, ...put);
      const { events, error } = await replay(Uint8Array.from(bytes));
      if (error === undefined) expect(events.at(-1)?.type).toBe("stop");
      else
        expect(error.failureClass).toMatch(
          /transient|bad_request|content_filter|context_too_long|quota|unknown_model|bad_credentials/,
        );
    }),
    { numRuns: Math.ceil(countOf("decoder_inputs") / 6) },
  );
});

it("random bytes instead of a stream give a failure of the provider", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 5 }),
      async (noise) => {
        expect((await replay(streamOf(noise))).error).toMatchObject({ failureClass: "transient" });
      },
    ),
    { numRuns: Math.ceil(countOf("decoder_inputs") / 10) },
  );
});

it.each([
  ["text", { text: "x".repeat(1_000) }],
  ["signatures", { thoughtSignature: "x".repeat(1_000) }],
  ["empty calls", { functionCall: {} }],
  ["pictures", { inlineData: { data: "x".repeat(1_000) } }],
  ["queries", null],
])("an endless reply of %s fails", (_, given) => {
  const one = (n: number) =>
    part(given ?? { toolCall: { args: { queries: [`${n}`.repeat(200)] } } });
  const chunks = Array.from({ length: MAX_REPLY_CHARS / 900 }, (_unused, n) => one(n));
  expect(() => decode(chunks)).toThrow(expect.objectContaining({ code: "bad_response" }));
});

function streamOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}
