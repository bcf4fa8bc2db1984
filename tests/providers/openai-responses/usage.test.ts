import { describe, expect, it } from "vitest";
import { decodeUsage } from "../../../src/providers/openai-responses/decode";
import { completed, decode, type Fields, message } from "./events";

describe("charged uses", () => {
  const usage = { input_tokens: 5, output_tokens: 2 };
  const charged = (...output: Fields[]) => {
    const stop = decode([completed(output, { usage })]).end();
    return stop.type === "stop" ? stop.usage?.hosted_uses : undefined;
  };
  const ran = (container_id?: string) => ({
    type: "code_interpreter_call",
    ...(container_id && { container_id }),
  });

  it.each([
    {
      name: "count a search but not the pages that it opens",
      output: [search("search"), search("open_page")],
      uses: { web_search: 1 },
    },
    {
      name: "do not count a failed search",
      output: [{ ...search("search"), status: "failed" }],
      uses: undefined,
    },
    {
      name: "count code once per container",
      output: [ran("c1"), ran("c1"), ran("c2")],
      uses: { code_execution: 2 },
    },
    {
      name: "count each code run if no container is named",
      output: [ran(), ran()],
      uses: { code_execution: 2 },
    },
    { name: "are absent without uses", output: [message("x")], uses: undefined },
  ])("$name", ({ output, uses }) => expect(charged(...output)).toEqual(uses));

  it("are absent without a usage report", () => {
    expect(decode([completed([search("search")])]).end()).toMatchObject({ usage: null });
  });
});

const search = (type: string) => ({
  type: "web_search_call",
  status: "completed",
  action: { type, query: "q" },
});

describe("usage", () => {
  it.each([
    { name: "is null without a report", value: null, expected: null },
    { name: "is null for zeros", value: { input_tokens: 0, output_tokens: 0 }, expected: null },
    {
      name: "ignores invalid numbers",
      value: { input_tokens: 1e300, output_tokens: Number.NaN },
      expected: null,
    },
    {
      name: "counts output that only the total includes",
      value: {
        input_tokens: 10,
        output_tokens: 5,
        total_tokens: 40,
        output_tokens_details: { reasoning_tokens: 25 },
      },
      expected: { input_tokens: 10, output_tokens: 30, reasoning_tokens: 25, cached_tokens: 0 },
    },
    {
      name: "limits a part to the whole",
      value: {
        input_tokens: 10,
        output_tokens: 5,
        input_tokens_details: { cached_tokens: 8, cache_write_tokens: 9 },
      },
      expected: {
        input_tokens: 10,
        output_tokens: 5,
        reasoning_tokens: 0,
        cached_tokens: 8,
        cache_write_tokens: 2,
      },
    },
  ])("$name", ({ value, expected }) => expect(decodeUsage(value)).toEqual(expected));
});
