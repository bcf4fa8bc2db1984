import { describe, expect, it } from "vitest";
import type { ModelEvent, ReplyItem } from "../../../src/providers/provider";
import { calls, decode, delta, finish, content } from "./chunks";

const call = (id: string, name: string, args: string): ReplyItem => ({
  type: "tool_call",
  id,
  name,
  arguments: args,
});
const text = (value: string): ReplyItem => ({ type: "text", text: value });
const thought = (value: string): ReplyItem => ({ type: "reasoning", text: value });

const detailed = (value: string, reasoning_details: object[]): ReplyItem => ({
  ...thought(value),
  opaque: { reasoning_details },
});

const itemsOf = (chunks: readonly unknown[], taken?: string[]) => {
  const { stop } = decode(chunks, taken);
  return stop.type === "stop" ? stop.items : [];
};
describe("text and reasoning", () => {
  it.each([
    {
      name: "joins the deltas of a text",
      given: [content("Hel"), content("lo")],
      expected: [text("Hello")],
    },
    {
      name: "ignores empty and missing content",
      given: [content(""), delta({}), delta({ content: null })],
      expected: [],
    },
    {
      name: "reads text parts of a list of contents, and its thinking as reasoning",
      given: [
        delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] }),
        delta({ content: [{ type: "text", text: "ok" }] }),
      ],
      expected: [thought("hm"), text("ok")],
    },
    {
      name: "reads reasoning_content",
      given: [delta({ reasoning_content: "a" }), delta({ reasoning_content: "b" })],
      expected: [thought("ab")],
    },
    { name: "reads reasoning", given: [delta({ reasoning: "a" })], expected: [thought("a")] },
    {
      name: "reads text and summary of reasoning_details, not encrypted parts",
      given: [
        delta({
          reasoning_details: [
            { type: "reasoning.text", text: "a" },
            { type: "reasoning.summary", summary: "b" },
            { type: "reasoning.encrypted", data: "xxx" },
          ],
        }),
      ],
      expected: [
        detailed("ab", [
          { type: "reasoning.text", text: "a" },
          { type: "reasoning.summary", summary: "b" },
          { type: "reasoning.encrypted", data: "xxx" },
        ]),
      ],
    },
    {
      name: "reads reasoning once if it is sent in two fields",
      given: [
        delta({ reasoning: "a", reasoning_details: [{ type: "reasoning.text", text: "a" }] }),
      ],
      expected: [detailed("a", [{ type: "reasoning.text", text: "a" }])],
    },
    {
      name: "reads a complete message in place of a delta",
      given: [{ choices: [{ message: { content: "all" } }] }],
      expected: [text("all")],
    },
    {
      name: "reads the first choice only",
      given: [{ choices: [{ index: 1, delta: { content: "no" } }] }, content("yes")],
      expected: [text("yes")],
    },
  ])("$name", (row) => expect(itemsOf([...row.given, finish("stop")])).toEqual(row.expected));

  it("yields every delta in order, on arrival", () => {
    const chunks = [delta({ reasoning: "hm" }), content("a"), content("b"), finish("stop")];
    const { events } = decode(chunks);
    expect(events).toEqual([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ]);
  });

  it.each([
    null,
    undefined,
    42,
    "text",
    [],
    {},
    { choices: null },
    { choices: [null] },
    { choices: [{ delta: null }] },
    { choices: [{ delta: { tool_calls: [null, 1, { function: null }] } }] },
    {
      choices: [{ delta: { content: { a: 1 }, reasoning_details: "x", tool_calls: {} } }],
      usage: "many",
    },
  ])("ignores %j", (chunk) => expect(() => decode([chunk, finish("stop")])).not.toThrow());
});

describe("tool calls", () => {
  it.each([
    {
      name: "joins a call from its deltas",
      given: [
        calls({ index: 0, id: "a", name: "vote", args: "" }),
        calls({ index: 0, args: '{"x"' }),
        calls({ index: 0, args: ":1}" }),
      ],
      expected: [call("a", "vote", '{"x":1}')],
    },
    {
      name: "separates interleaved calls by their index",
      given: [
        calls({ index: 0, id: "a", name: "f", args: "{" }),
        calls({ index: 1, id: "b", name: "g", args: "[" }),
        calls({ index: 0, args: "}" }, { index: 1, args: "]" }),
      ],
      expected: [call("a", "f", "{}"), call("b", "g", "[]")],
    },
    {
      name: "numbers calls by appearance when the first index is not 0",
      given: [
        calls({ index: 3, id: "a", name: "f", args: "1" }),
        calls({ index: 1, id: "b", name: "g", args: "2" }),
      ],
      expected: [call("a", "f", "1"), call("b", "g", "2")],
    },
    {
      name: "continues the last call when there is no index",
      given: [calls({ id: "a", name: "f", args: "{" }), calls({ args: "}" })],
      expected: [call("a", "f", "{}")],
    },
    {
      name: "starts a call at each name when there is neither index nor id",
      given: [calls({ name: "f", args: "{}" }, { name: "g", args: "{}" })],
      expected: [call("call00000", "f", "{}"), call("call00001", "g", "{}")],
    },
    {
      name: "finds the call by its id when there is no index",
      given: [
        calls({ id: "a", name: "f", args: "{" }),
        calls({ id: "b", name: "g", args: "[" }),
        calls({ id: "a", args: "}" }),
      ],
      expected: [call("a", "f", "{}"), call("b", "g", "[")],
    },
    {
      name: "treats a name repeated with every delta as one call",
      given: [
        calls({ id: "a", name: "f", args: '{"x":' }),
        calls({ id: "a", name: "f", args: "1}" }),
      ],
      expected: [call("a", "f", '{"x":1}')],
    },
    {
      name: "treats a second complete call under the same id as another call",
      given: [calls({ id: "a", name: "f", args: "{}" }, { id: "a", name: "f", args: '{"x":2}' })],
      expected: [call("a", "f", "{}"), call("call00001", "f", '{"x":2}')],
    },
    {
      name: "separates calls that all have index 0 and different ids",
      given: [
        calls({ index: 0, id: "a", name: "f", args: "{}" }),
        calls({ index: 0, id: "b", name: "g", args: "{}" }),
      ],
      expected: [call("a", "f", "{}"), call("b", "g", "{}")],
    },
    {
      name: "separates complete calls that all have index 0 and no id",
      given: [
        calls({ index: 0, id: "", name: "f", args: "{}" }),
        calls({ index: 0, id: "", name: "g", args: '{"x":1}' }),
      ],
      expected: [call("call00000", "f", "{}"), call("call00001", "g", '{"x":1}')],
    },
    {
      name: "treats a name repeated after the last delta as one call",
      given: [
        calls({ index: 0, id: "a", name: "f", args: "{}" }),
        calls({ index: 0, id: "a", name: "f", args: "" }),
      ],
      expected: [call("a", "f", "{}")],
    },
    {
      name: "makes duplicate ids of different indexes unique",
      given: [
        calls(
          { index: 0, id: "a", name: "f", args: "{}" },
          { index: 1, id: "a", name: "g", args: "{}" },
        ),
      ],
      expected: [call("a", "f", "{}"), call("call00001", "g", "{}")],
    },
    {
      name: "makes ids if they are missing",
      given: [
        calls(
          { index: 0, id: null, name: "f", args: "{}" },
          { index: 1, id: "", name: "g", args: "{}" },
        ),
      ],
      expected: [call("call00000", "f", "{}"), call("call00001", "g", "{}")],
    },
    {
      name: "accepts an id that arrives late",
      given: [calls({ index: 0, name: "f" }), calls({ index: 0, id: "a" })],
      expected: [call("a", "f", "{}")],
    },
    {
      name: "turns no arguments into an empty object",
      given: [calls({ index: 0, id: "a", name: "f" })],
      expected: [call("a", "f", "{}")],
    },
    {
      name: "turns empty and null arguments into an empty object",
      given: [
        calls(
          { index: 0, id: "a", name: "f", args: "" },
          { index: 1, id: "b", name: "g", args: null },
        ),
      ],
      expected: [call("a", "f", "{}"), call("b", "g", "{}")],
    },
    {
      name: "writes object arguments as text",
      given: [calls({ index: 0, id: "a", name: "f", args: { x: 1 } })],
      expected: [call("a", "f", '{"x":1}')],
    },
    {
      name: "joins a name from several deltas",
      given: [
        calls({ index: 0, id: "a", name: "new_" }),
        calls({ index: 0, name: "answer" }),
        calls({ index: 0, args: "{}" }),
      ],
      expected: [call("a", "new_answer", "{}")],
    },
    {
      name: "reads the older function_call",
      given: [
        delta({ function_call: { name: "f", arguments: "{" } }),
        delta({ function_call: { arguments: "}" } }),
      ],
      expected: [call("call00000", "f", "{}")],
    },
    {
      name: "keeps invalid arguments unchanged",
      given: [calls({ index: 0, id: "a", name: "f", args: '{"x":' })],
      expected: [call("a", "f", '{"x":')],
    },
  ])("$name", ({ given, expected }) =>
    expect(itemsOf([...given, finish("tool_calls")])).toEqual(expected),
  );

  it("never repeats an id of the conversation, so that ids are unique within the round", () => {
    const given = [calls({ index: 0, id: "call_0", name: "f", args: "{}" }), finish("tool_calls")];
    expect(itemsOf(given, ["call_0"])).toEqual([call("call00001", "f", "{}")]);
  });

  it("streams arguments with the call's index and name", () => {
    const given = [
      calls({ index: 0, id: "a", name: "f", args: "" }),
      calls({ index: 0, args: "{" }),
      calls({ index: 0, args: "}" }),
    ];
    expect(decode([...given, finish("stop")]).events).toEqual([
      { type: "tool_arguments", index: 0, name: "f", id: "a", text: "{" },
      { type: "tool_arguments", index: 0, name: "f", id: "a", text: "}" },
    ]);
  });

  it("delays arguments until the name is known", () => {
    const given = [
      calls({ index: 0, args: "{" }),
      calls({ index: 0, args: '"a"' }),
      calls({ index: 0, name: "f", args: ":1}" }),
    ];
    expect(decode([...given, finish("stop")]).events).toEqual([
      { type: "tool_arguments", index: 0, name: "f", text: '{"a":1}' },
    ]);
  });
});

describe("usage", () => {
  const usageOf = (chunks: readonly unknown[]) => {
    const { stop } = decode([...chunks, finish("stop")]);
    return stop.type === "stop" ? stop.usage : null;
  };
  const usage = (input: number, output: number, reasoning = 0, cached = 0) => ({
    input_tokens: input,
    output_tokens: output,
    reasoning_tokens: reasoning,
    cached_tokens: cached,
  });
  const reported = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };

  it.each([
    {
      name: "is read from a last chunk without choices",
      given: [{ choices: [], usage: reported }],
      expected: usage(10, 4),
    },
    {
      name: "contains cached and reasoning tokens",
      given: [
        {
          choices: [],
          usage: {
            ...reported,
            prompt_tokens_details: { cached_tokens: 8 },
            completion_tokens_details: { reasoning_tokens: 3 },
          },
        },
      ],
      expected: usage(10, 4, 3, 8),
    },
    {
      name: "is the last report if every chunk contains one",
      given: [
        { ...content("a"), usage: { prompt_tokens: 10, completion_tokens: 1 } },
        { ...content("b"), usage: { prompt_tokens: 10, completion_tokens: 2 } },
      ],
      expected: usage(10, 2),
    },
    {
      name: "is read if it is null in all chunks except the last",
      given: [
        { ...content("a"), usage: null },
        { choices: [], usage: reported },
      ],
      expected: usage(10, 4),
    },
    {
      name: "is read from the choice",
      given: [{ choices: [{ delta: {}, usage: reported }] }],
      expected: usage(10, 4),
    },
    {
      name: "is read from a field of a specific server",
      given: [{ choices: [], x_groq: { usage: reported } }],
      expected: usage(10, 4),
    },
    {
      name: "contains cache hits with another name",
      given: [{ choices: [], usage: { ...reported, prompt_cache_hit_tokens: 6 } }],
      expected: usage(10, 4, 0, 6),
    },
    {
      name: "counts reasoning that only the total includes as output",
      given: [
        {
          choices: [],
          usage: {
            prompt_tokens: 10,
            completion_tokens: 4,
            total_tokens: 34,
            completion_tokens_details: { reasoning_tokens: 20 },
          },
        },
      ],
      expected: usage(10, 24, 20),
    },
    { name: "is null without a report", given: [content("a")], expected: null },
    { name: "is null for an empty report", given: [{ choices: [], usage: {} }], expected: null },
    {
      name: "is null for invalid values",
      given: [
        {
          choices: [],
          usage: { prompt_tokens: -3, completion_tokens: "7", total_tokens: Number.NaN },
        },
      ],
      expected: null,
    },
  ])("$name", ({ given, expected }) => expect(usageOf(given)).toEqual(expected));

  it("is reported as soon as it is known", () => {
    const { events } = decode([{ ...content("a"), usage: reported }, finish("stop")]);
    expect(events).toEqual<ModelEvent[]>([
      { type: "text", text: "a" },
      { type: "usage", usage: usage(10, 4) },
    ]);
  });
});
