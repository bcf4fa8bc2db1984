import { describe, expect, it } from "vitest";
import { asks, block, decode, ends, says, start } from "./frames";

const usageOf = (first: unknown, last?: unknown, frames: unknown[] = []) =>
  decode([
    start({ usage: first }),
    ...frames,
    ...says(0, "x"),
    { ...ends("end_turn"), usage: last },
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
      name: "the first report with the output of the last",
      first: { input_tokens: 10, output_tokens: 1 },
      last: { output_tokens: 7 },
      gives: usage(10, 7),
    },
    {
      name: "cache reads and writes as input",
      first: {
        input_tokens: 10,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 20,
        output_tokens: 1,
      },
      last: { output_tokens: 7 },
      gives: usage(130, 7, { cached_tokens: 100, cache_write_tokens: 20 }),
    },
    {
      name: "the last report if it is higher: it counts everything so far",
      first: { input_tokens: 10, output_tokens: 1 },
      last: { input_tokens: 900, cache_read_input_tokens: 50, output_tokens: 7 },
      gives: usage(950, 7, { cached_tokens: 50 }),
    },
    {
      name: "nulls as omitted",
      first: { input_tokens: 10, cache_read_input_tokens: null, output_tokens: 1 },
      last: { input_tokens: null, output_tokens: 7 },
      gives: usage(10, 7),
    },
    {
      name: "thinking inside the output",
      first: { input_tokens: 10 },
      last: { output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } },
      gives: usage(10, 9, { reasoning_tokens: 4 }),
    },
    {
      name: "searches",
      first: { input_tokens: 10 },
      last: { output_tokens: 9, server_tool_use: { web_search_requests: 2 } },
      gives: usage(10, 9, { hosted_uses: { web_search: 2 } }),
    },
    { name: "no report", first: undefined, last: undefined, gives: null },
    { name: "an empty report", first: {}, last: { output_tokens: 0 }, gives: null },
    {
      name: "invalid values as no report",
      first: { input_tokens: -4, output_tokens: "7" },
      last: { output_tokens: 1e300 },
      gives: null,
    },
  ])("reads $name", ({ first, last, gives }) => expect(usageOf(first, last)).toEqual(gives));

  it("counts code as one use of its container, however often it ran", () => {
    const run = (id: string) => [
      ...asks(1, id, "bash_code_execution", "{}"),
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

  it("is reported only at the end, so that a cut reply is not charged the placeholder at its start", () => {
    const { events, stop } = decode([
      start({ usage: { input_tokens: 10, output_tokens: 1 } }),
      ...says(0, "x"),
      { ...ends("end_turn"), usage: { output_tokens: 7 } },
    ]);
    expect(events).toEqual([{ type: "text", text: "x" }]);
    expect(stop.usage).toEqual(usage(10, 7));
  });
});
