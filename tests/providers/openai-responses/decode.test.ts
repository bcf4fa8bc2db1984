import { describe, expect, it } from "vitest";
import { added, call, completed, decode, done, itemsOf, message } from "./events";

describe("the reply", () => {
  it("is the output of the last event, even if it differs from earlier items", () => {
    const events = [done(message("old")), completed([message("new")])];
    expect(itemsOf(events)).toEqual([{ type: "text", text: "new" }]);
  });

  it("consists of its finished items in output order if the last event lists none", () => {
    const events = [done(call("b"), 1), done(message("text"), 0), completed()];
    expect(itemsOf(events).map(({ type }) => type)).toEqual(["text", "tool_call"]);
  });

  it.each([{ index: { toString: false } }, { index: "1" }, { index: null }, { index: 0 }])(
    "does not start a new part of its reasoning at the index $index",
    ({ index }) => {
      const { events } = decode([
        { type: "response.reasoning_summary_part.added", summary_index: index },
        completed(),
      ]);
      expect(events.filter(({ type }) => type === "reasoning")).toEqual([]);
    },
  );

  it("consists of all finished items if none has an index", () => {
    const finished = (item: object) => ({ type: "response.output_item.done", item });
    const events = [
      finished(message("text")),
      finished(call("a")),
      finished(call("b")),
      completed(),
    ];
    expect(itemsOf(events).map(({ type }) => type)).toEqual(["text", "tool_call", "tool_call"]);
  });

  it("gives a call another id if its own id is used", () => {
    const ids = itemsOf([completed([call("a"), call("a"), call("")])], ["a"]).map(
      (item) => "id" in item && item.id,
    );
    expect(new Set(["a", ...ids]).size).toBe(4);
  });

  it("turns missing arguments into an empty object", () => {
    expect(itemsOf([completed([call("a", " ")])])[0]).toMatchObject({ arguments: "{}" });
  });

  it("drops the item id of a call if its reasoning cannot be sent back", () => {
    const reasoning = { type: "reasoning", id: "rs_1", summary: [] };
    expect(itemsOf([completed([reasoning, call("a")])])).toEqual([
      { type: "tool_call", id: "a", name: "vote", arguments: "{}" },
    ]);
  });

  it("does not send a hosted tool item back if its reasoning cannot be sent back", () => {
    const reasoning = { type: "reasoning", id: "rs_1", summary: [] };
    const search = {
      type: "web_search_call",
      id: "ws_1",
      status: "completed",
      action: { type: "search", query: "a" },
    };
    expect(itemsOf([completed([reasoning, search])])).toEqual([
      { type: "hosted", name: "web_search" },
    ]);
  });

  it("keeps plain reasoning, which can be sent back without encrypted content", () => {
    const content = [{ type: "reasoning_text", text: "hm" }];
    expect(itemsOf([completed([{ type: "reasoning", id: "rs_1", summary: [], content }])])).toEqual(
      [{ type: "reasoning", text: "hm", opaque: { id: "rs_1", summary: [], content } }],
    );
  });

  it("sends back encrypted reasoning without plain text or null fields", () => {
    const item = {
      type: "reasoning",
      id: "rs_1",
      summary: [],
      content: [{}],
      encrypted_content: "gA",
      status: null,
    };
    expect(itemsOf([completed([item])])[0]).toMatchObject({
      opaque: { id: "rs_1", summary: [], encrypted_content: "gA" },
    });
    expect(JSON.stringify(itemsOf([completed([item])]))).not.toMatch(/status|content":\[/);
  });

  it("omits items of unrequested types", () => {
    expect(
      itemsOf([completed([{ type: "mcp_list_tools" }, { type: "something_new" }, message("x")])]),
    ).toHaveLength(1);
  });

  it.each([
    { name: "calls", output: [call("a")], more: {}, reason: "tool_calls" },
    { name: "a text", output: [message("x")], more: {}, reason: "stop" },
    {
      name: "a refusal",
      output: [{ type: "message", content: [{ type: "refusal", refusal: "no" }] }],
      more: {},
      reason: "refusal",
    },
    {
      name: "calls that were cut",
      output: [call("a")],
      more: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
      reason: "length",
    },
    {
      name: "no reason",
      output: [],
      more: { status: "incomplete", incomplete_details: null },
      reason: "unknown",
    },
  ])("of $name ends as $reason", ({ output, more, reason }) => {
    expect(decode([completed(output, more)]).end()).toMatchObject({ reason });
  });

  it("without a final event is incomplete", () => {
    const { decoder } = decode([done(message("all of it"))]);
    expect(decoder.isOver()).toBe(false);
    expect(() => decoder.end()).toThrow(
      expect.objectContaining({ code: "stream_cut", failureClass: "transient" }),
    );
  });
});

describe("failures", () => {
  it.each([
    {
      name: "failed",
      event: {
        type: "response.failed",
        response: { error: { code: "server_error", message: "oops" } },
      },
    },
    { name: "failed without a reason", event: { type: "response.failed", response: {} } },
    { name: "cancelled", event: { type: "response.cancelled", response: {} } },
    { name: "an error", event: { type: "error", code: "server_error", message: "oops" } },
    {
      name: "an error in an error",
      event: { type: "error", error: { code: "server_error", message: "oops" } },
    },
  ])("$name is thrown at the end", ({ event }) => {
    const { decoder } = decode([event]);
    expect(decoder.isOver()).toBe(true);
    expect(() => decoder.end()).toThrow(expect.objectContaining({ failureClass: "transient" }));
  });

  it("keep their usage", () => {
    const event = {
      type: "response.failed",
      response: { error: {}, usage: { input_tokens: 5, output_tokens: 2 } },
    };
    expect(decode([event]).events).toEqual([expect.objectContaining({ type: "usage" })]);
  });

  it("contain no key", () => {
    const { decoder } = decode([{ type: "error", message: "secret-key is wrong" }]);
    expect(() => decoder.end()).toThrow("[redacted] is wrong");
  });
});

describe("live events", () => {
  it("separate two parts of reasoning by a blank line", () => {
    const think = (delta: string) => ({ type: "response.reasoning_summary_text.delta", delta });
    const { events } = decode([
      added({ type: "reasoning" }),
      think("one"),
      added({ type: "reasoning" }, 1),
      think("two"),
    ]);
    expect(events.map((event) => "text" in event && event.text).join("")).toBe("one\n\ntwo");
  });

  it("show a query of the finished item once", () => {
    const item = { type: "web_search_call", action: { type: "search", queries: ["a", "b"] } };
    const { events } = decode([added({ type: "web_search_call" }), done(item), completed([item])]);
    expect(events).toEqual([{ type: "hosted_tool", name: "web_search", text: "a\nb" }]);
  });

  it("number calls from 0 even if there are hosted tools", () => {
    const args = (output_index: number) => ({
      type: "response.function_call_arguments.delta",
      output_index,
      delta: "{}",
    });
    const { events } = decode([
      added({ type: "web_search_call" }),
      added(call("a", ""), 1),
      args(1),
      added(call("b", ""), 2),
      args(2),
    ]);
    expect(events.map((event) => "index" in event && event.index)).toEqual([0, 1]);
  });

  it("show arguments that arrive complete once", () => {
    const item = call("a", '{"x":1}');
    expect(decode([added(item), done(item), completed([item])]).events).toEqual([
      { type: "tool_arguments", index: 0, name: "vote", id: "a", text: '{"x":1}' },
    ]);
  });
});

describe("sources", () => {
  it("are the sources of the text, each page once", () => {
    const page = { type: "url_citation", url: "https://a.example", title: "A" };
    const { end } = decode([
      completed([message("x", [page, page, { type: "file_citation", file_id: "f" }])]),
    ]);
    expect(end()).toMatchObject({ citations: [{ url: "https://a.example", title: "A" }] });
  });

  it("are taken from earlier events if the text has none", () => {
    const annotation = { type: "url_citation", url: "https://a.example", title: "A" };
    const { end } = decode([
      { type: "response.output_text.annotation.added", annotation },
      completed([message("x")]),
    ]);
    expect(end()).toMatchObject({ citations: [{ url: "https://a.example", title: "A" }] });
  });
});

describe("resume points", () => {
  const created = { type: "response.created", sequence_number: 0, response: { id: "resp_1" } };
  const says = (delta: string, sequence_number: number) => ({
    type: "response.output_text.delta",
    sequence_number,
    delta,
  });
  const point = (after: number, alone = false) => ({
    type: "resume_point",
    point: { id: "resp_1", after },
    alone,
  });

  it("precede each text, and one follows as soon as the reply has an id", () => {
    const events = [
      created,
      { type: "response.in_progress", sequence_number: 1 },
      says("a", 2),
      says("b", 3),
    ];
    expect(decode(events, { yieldsPoints: true }).events).toEqual([
      point(0, true),
      point(2),
      { type: "text", text: "a" },
      point(3),
      { type: "text", text: "b" },
    ]);
  });

  it("are absent if the reply cannot be resumed, and after its end", () => {
    expect(decode([created, says("a", 2)]).events).toEqual([{ type: "text", text: "a" }]);
    const last = {
      ...completed([message("a")], { usage: { input_tokens: 1, output_tokens: 1 } }),
      sequence_number: 9,
    };
    expect(decode([created, last], { yieldsPoints: true }).events.map(({ type }) => type)).toEqual([
      "resume_point",
      "usage",
    ]);
  });

  it("do not cause a second end of items that started before them", () => {
    const item = { type: "web_search_call", action: { type: "search", query: "q" } };
    const from = { id: "resp_1", after: 5 };
    expect(
      decode([done(item, 1), done(call("a"), 2), completed([item, call("a")])], {
        yieldsPoints: true,
        from,
      }).events,
    ).toEqual([]);
  });
});
