import { describe, expect, it } from "vitest";
import { hostedUseBlock, block, decode, stopEvent, textBlock, start } from "./frames";
import { call, hosted, searchUse } from "./requests";

describe("hosted tools", () => {
  const found = (id: string, content: unknown) =>
    block(9, { type: "web_search_tool_result", tool_use_id: id, content });
  const page = {
    type: "web_search_result",
    url: "https://a.example",
    title: "A",
    encrypted_content: "eA==",
  };
  const ran = (id: string, content: object) =>
    block(9, { type: "bash_code_execution_tool_result", tool_use_id: id, content });

  it.each([
    {
      name: "reports a search with its result",
      frames: [
        hostedUseBlock(0, "s", "web_search", '{"que', 'ry":"rain"}'),
        found("s", [page, page]),
      ],
      expected: [
        {
          name: "web_search",
          input: "rain",
          outcome: "ok",
          output: "A – https://a.example\nA – https://a.example",
        },
      ],
    },
    {
      name: "reports a search that failed",
      frames: [
        hostedUseBlock(0, "s", "web_search", '{"query":"rain"}'),
        found("s", { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" }),
      ],
      expected: [
        { name: "web_search", input: "rain", outcome: "error", output: "max_uses_exceeded" },
      ],
    },
    {
      name: "reports code that ran",
      frames: [
        hostedUseBlock(0, "c", "bash_code_execution", '{"command":"ls"}'),
        ran("c", { stdout: "a.txt", stderr: "warn", return_code: 0 }),
      ],
      expected: [{ name: "code_execution", input: "ls", outcome: "ok", output: "a.txt\nwarn" }],
    },
    {
      name: "reports code that failed",
      frames: [
        hostedUseBlock(0, "c", "bash_code_execution", '{"command":"ls"}'),
        ran("c", { stdout: "", stderr: "no", return_code: 2 }),
      ],
      expected: [{ name: "code_execution", input: "ls", outcome: "error", output: "no" }],
    },
    {
      name: "reports no use without a result",
      frames: [hostedUseBlock(0, "s", "web_search", '{"query":"rain"}')],
      expected: undefined,
    },
  ])("$name", ({ frames, expected }) => {
    expect(decode([start(), ...frames.flat(), stopEvent("end_turn")]).stop.hosted).toEqual(
      expected,
    );
  });

  it("shows the input of each use on a separate line", () => {
    const frames = [
      ...hostedUseBlock(0, "s", "web_search", '{"query":"rain"}'),
      ...hostedUseBlock(1, "t", "web_search", '{"query":"snow"}'),
    ];
    const { events } = decode([start(), ...frames, stopEvent("end_turn")]);
    expect(events.map((event) => (event.type === "hosted_tool" ? event.text : ""))).toEqual([
      "rain",
      "\nsnow",
    ]);
  });

  it("finds the query of a search in the previous reply", () => {
    const { stop } = decode(
      [start(), ...found("s", [page]), stopEvent("end_turn")],
      [hosted(searchUse("s")), call("a")],
    );
    expect(stop.hosted).toMatchObject([{ input: "q", outcome: "ok" }]);
  });

  it("are returned as blocks that can be stored, with the id of the container", () => {
    const frames = [
      hostedUseBlock(0, "c", "bash_code_execution", '{"command":"ls"}'),
      ran("c", { stdout: "", return_code: 0 }),
    ].flat();
    const { stop } = decode([
      start(),
      ...frames,
      stopEvent("end_turn", { container: { id: "container_1", expires_at: "later" } }),
    ]);
    expect(JSON.parse(JSON.stringify(stop.items))).toEqual([
      {
        type: "hosted",
        name: "code_execution",
        opaque: {
          block: {
            type: "server_tool_use",
            id: "c",
            name: "bash_code_execution",
            input: { command: "ls" },
          },
        },
      },
      {
        type: "hosted",
        name: "code_execution",
        opaque: {
          block: {
            type: "bash_code_execution_tool_result",
            tool_use_id: "c",
            content: { stdout: "", return_code: 0 },
          },
          container: "container_1",
        },
      },
    ]);
  });

  it("reports sources with the passage that cites them, and stores them with their text", () => {
    const citation = {
      type: "web_search_result_location",
      url: "https://a.example",
      title: "A",
      cited_text: "wet",
      encrypted_index: "eA==",
    };
    const cited = block(
      1,
      { type: "text", text: "" },
      { type: "text_delta", text: "It rains." },
      { type: "citations_delta", citation },
    );
    const { stop } = decode([start(), ...textBlock(0, "So: "), ...cited, stopEvent("end_turn")]);
    expect(stop.citations).toEqual([{ url: "https://a.example", title: "A", text: "It rains." }]);
    expect(stop.items.at(-1)).toEqual({
      type: "text",
      text: "It rains.",
      opaque: { citations: [citation] },
    });
  });
});
