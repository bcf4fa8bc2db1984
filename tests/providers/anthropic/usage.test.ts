import { describe, expect, it } from "vitest";
import { hostedUseBlock, block, decode, stopEvent, textBlock, start } from "./frames";

const usageOf = (first: unknown, last?: unknown, frames: unknown[] = []) =>
  decode([
    start({ usage: first }),
    ...frames,
    ...textBlock(0, "x"),
    { ...stopEvent("end_turn"), usage: last },
  ]).stop.usage;
const usage = (input: number, output: number, more: object = {}) => ({
  input_tokens: input,
  output_tokens: output,
  reasoning_tokens: 0,
  cached_tokens: 0,
  ...more,
});

describe("usage", () => {
  it.each([
    {
      name: "takes the input from the first report and the output from the last",
      first: { input_tokens: 10, output_tokens: 1 },
      last: { output_tokens: 7 },
      expected: usage(10, 7),
    },
    {
      name: "counts cache reads and writes as input",
      first: {
        input_tokens: 10,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 20,
        output_tokens: 1,
      },
      last: { output_tokens: 7 },
      expected: usage(130, 7, { cached_tokens: 100, cache_write_tokens: 20 }),
    },
    {
      name: "uses the last report, which is cumulative",
      first: { input_tokens: 10, output_tokens: 1 },
      last: { input_tokens: 900, cache_read_input_tokens: 50, output_tokens: 7 },
      expected: usage(950, 7, { cached_tokens: 50 }),
    },
    {
      name: "treats null as omitted",
      first: { input_tokens: 10, cache_read_input_tokens: null, output_tokens: 1 },
      last: { input_tokens: null, output_tokens: 7 },
      expected: usage(10, 7),
    },
    {
      name: "counts thinking as a part of the output",
      first: { input_tokens: 10 },
      last: { output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } },
      expected: usage(10, 9, { reasoning_tokens: 4 }),
    },
    {
      name: "counts searches",
      first: { input_tokens: 10 },
      last: { output_tokens: 9, server_tool_use: { web_search_requests: 2 } },
      expected: usage(10, 9, { hosted_uses: { web_search: 2 } }),
    },
    { name: "is null without a report", first: undefined, last: undefined, expected: null },
    { name: "is null for an empty report", first: {}, last: { output_tokens: 0 }, expected: null },
    {
      name: "is null for invalid values",
      first: { input_tokens: -4, output_tokens: "7" },
      last: { output_tokens: 1e300 },
      expected: null,
    },
  ])("$name", ({ first, last, expected }) => expect(usageOf(first, last)).toEqual(expected));

  it("counts any number of code runs as one use of the container", () => {
    const run = (id: string) => [
      ...hostedUseBlock(1, id, "bash_code_execution", "{}"),
      ...block(2, {
        type: "bash_code_execution_tool_result",
        tool_use_id: id,
        content: { return_code: 0 },
      }),
    ];
    expect(usageOf({ input_tokens: 10 }, { output_tokens: 9 }, [...run("a"), ...run("b")])).toEqual(
      usage(10, 9, { hosted_uses: { code_execution: 1 } }),
    );
  });

  it("is reported only at the end, so that an incomplete reply is not charged the first count", () => {
    const { events, stop } = decode([
      start({ usage: { input_tokens: 10, output_tokens: 1 } }),
      ...textBlock(0, "x"),
      { ...stopEvent("end_turn"), usage: { output_tokens: 7 } },
    ]);
    expect(events).toEqual([{ type: "text", text: "x" }]);
    expect(stop.usage).toEqual(usage(10, 7));
  });
});
