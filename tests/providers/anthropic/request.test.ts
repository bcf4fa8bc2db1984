import { describe, expect, it } from "vitest";
import { toBetas } from "../../../src/providers/anthropic/request";
import type { Message } from "../../../src/providers/provider";
import {
  assistant,
  body,
  call,
  hosted,
  request,
  result,
  textItem,
  searchResult,
  searchUse,
  thinkingItem,
  TOOL,
  user,
} from "./requests";

const MARK = { cache_control: { type: "ephemeral" } };
const strip = (value: unknown) =>
  JSON.parse(JSON.stringify(value, (key, one) => (key === "cache_control" ? undefined : one)));
const messages = (list: Message[]) => strip(body({ messages: list }).messages);
const text = (value: string) => ({ type: "text", text: value });
const toolUse = (id: string, input = {}) => ({ type: "tool_use", id, name: "f", input });
const toolResult = (id: string, fields: object = { content: "done" }) => ({
  type: "tool_result",
  tool_use_id: id,
  ...fields,
});

describe("the body", () => {
  it("requests a stream, with the system text outside the messages", () => {
    expect(body()).toEqual({
      model: "claude-sonnet-4-5",
      max_tokens: 100,
      system: [{ type: "text", text: "be brief", ...MARK }],
      messages: [{ role: "user", content: [text("hi")] }],
      stream: true,
    });
  });

  it("has no system text if there are no instructions", () => {
    expect(body({ system: " \n" })).not.toHaveProperty("system");
  });

  it.each([
    {
      name: "caps the output at the maximum of the model",
      model: "claude-opus-4-1",
      expected: 32_000,
    },
    {
      name: "caps the output at a quarter of the context window",
      model: "claude-sonnet-4-5",
      expected: 50_000,
    },
    {
      name: "uses a low output cap for an unlisted model",
      model: "claude-nonesuch-9",
      expected: 16_384,
    },
  ])("$name", ({ model, expected }) => {
    expect(body({ model, maxOutputTokens: null }).max_tokens).toBe(expected);
  });

  it("offers tools by name, description and schema", () => {
    expect(body({ tools: [TOOL] }).tools).toEqual([
      { name: "vote", description: "Votes.", input_schema: { type: "object", properties: {} } },
    ]);
  });

  it.each([
    {
      name: "sends no tool choice without tools",
      change: { toolChoice: "required" as const },
      expected: undefined,
    },
    { name: "lets the model choose", change: { tools: [TOOL] }, expected: { type: "auto" } },
    {
      name: "forces a call",
      change: { tools: [TOOL], toolChoice: "required" as const },
      expected: { type: "any" },
    },
    {
      name: "forces no call if the config enables thinking",
      change: {
        tools: [TOOL],
        toolChoice: "required" as const,
        params: { max_thinking_tokens: 2_000 },
      },
      expected: { type: "auto" },
    },
    {
      name: "forces no call of a model that thinks by default",
      change: { tools: [TOOL], toolChoice: "required" as const, model: "claude-opus-5-5" },
      expected: { type: "auto" },
    },
  ])("$name", ({ change, expected }) => expect(body(change).tool_choice).toEqual(expected));

  it("offers hosted tools after our own tools, with a limit for searches", () => {
    const hostedTools = [
      { name: "web_search" as const, maxUses: 3 },
      { name: "code_execution" as const, maxUses: 2 },
    ];
    expect(body({ tools: [TOOL], hostedTools }).tools.slice(1)).toEqual([
      { type: "web_search_20250305", name: "web_search", max_uses: 3 },
      { type: "code_execution_20250825", name: "code_execution" },
    ]);
  });

  it("sends the parameters of the config and of extra_body unchanged", () => {
    const params = {
      temperature: 0.2,
      stop: ["END"],
      metadata: { user_id: "u" },
      service_tier: "standard_only",
      extra_body: { inference_geo: "us" },
    };
    expect(body({ params })).toMatchObject({
      temperature: 0.2,
      stop_sequences: ["END"],
      metadata: { user_id: "u" },
      service_tier: "standard_only",
      inference_geo: "us",
    });
    for (const name of ["stop", "extra_body"]) expect(body({ params })).not.toHaveProperty(name);
  });

  it("does not let a parameter change fields that the service sets", () => {
    const hostile = {
      model: "x",
      messages: [],
      system: "x",
      stream: false,
      tools: [TOOL],
      tool_choice: { type: "none" },
      max_tokens: 9,
      container: "x",
      cache_control: { type: "ephemeral" },
      betas: ["x"],
    };
    expect(body({ params: hostile })).toEqual(body());
    expect(body({ params: { extra_body: hostile } })).toEqual(body());
    expect(
      body({ params: { extra_body: { thinking: { type: "enabled", budget_tokens: 9_000 } } } }),
    ).toEqual(body());
  });

  it.each([
    {
      name: "sends the betas of the config",
      params: { betas: ["a-2026-01-01", "b"] },
      model: "claude-sonnet-4-5",
      expected: "a-2026-01-01,b",
    },
    { name: "sends no betas by default", params: {}, model: "claude-sonnet-4-5", expected: "" },
    {
      name: "adds the betas of the service to those of the config",
      params: { betas: ["a", "a"] },
      model: "claude-opus-5-5",
      expected: "a,thinking-binding-controls-2026-08-01",
    },
    {
      name: "sends no value that would break the header",
      params: { betas: ["a\r\nx: y", 7] },
      model: "claude-sonnet-4-5",
      expected: "",
    },
  ])("$name", ({ params, model, expected }) =>
    expect(toBetas(request({ params, model }))).toBe(expected),
  );
});

describe("messages", () => {
  it.each<{ name: string; given: Message[]; expected: unknown[] }>([
    {
      name: "results of one reply's calls are sent together, before the user's text",
      given: [
        user("hi"),
        assistant(textItem("let me see"), call("a"), call("b")),
        user("news"),
        result("a"),
        result("b", "no", true),
      ],
      expected: [
        { role: "user", content: [text("hi")] },
        { role: "assistant", content: [text("let me see"), toolUse("a"), toolUse("b")] },
        {
          role: "user",
          content: [
            toolResult("a"),
            toolResult("b", { content: "no", is_error: true }),
            text("news"),
          ],
        },
      ],
    },
    {
      name: "adjacent user messages become one",
      given: [user("one"), user("two")],
      expected: [{ role: "user", content: [text("one"), text("two")] }],
    },
    {
      name: "adjacent assistant messages become one",
      given: [user("hi"), assistant(textItem("one")), assistant(textItem("two")), user("go on")],
      expected: [
        { role: "user", content: [text("hi")] },
        { role: "assistant", content: [text("one"), text("two")] },
        { role: "user", content: [text("go on")] },
      ],
    },
    {
      name: "blank texts are not sent, and neither is a message that has only a blank text",
      given: [
        user("hi"),
        assistant(textItem(" \n"), { type: "reasoning", text: "unsigned" }),
        user(""),
        user("go on"),
      ],
      expected: [{ role: "user", content: [text("hi"), text("go on")] }],
    },
    {
      name: "a blank result has no content",
      given: [user("hi"), assistant(call("a")), result("a", " ")],
      expected: [
        { role: "user", content: [text("hi")] },
        { role: "assistant", content: [toolUse("a")] },
        { role: "user", content: [toolResult("a", {})] },
      ],
    },
    {
      name: "a failed tool without a text has a default text",
      given: [user("hi"), assistant(call("a")), result("a", "", true)],
      expected: [
        { role: "user", content: [text("hi")] },
        { role: "assistant", content: [toolUse("a")] },
        {
          role: "user",
          content: [toolResult("a", { content: "The tool failed.", is_error: true })],
        },
      ],
    },
    {
      name: "arguments that are not an object are sent as an empty object",
      given: [
        user("hi"),
        assistant(call("a", '{"x":'), call("b", "[1]"), call("c", '{"x":1}')),
        result("a"),
        result("b"),
        result("c"),
      ],
      expected: [
        { role: "user", content: [text("hi")] },
        { role: "assistant", content: [toolUse("a"), toolUse("b"), toolUse("c", { x: 1 })] },
        { role: "user", content: [toolResult("a"), toolResult("b"), toolResult("c")] },
      ],
    },
    {
      name: "an invalid tool name is sent in a form that the API accepts",
      given: [
        user("hi"),
        assistant({ type: "tool_call", id: "a", name: "functions.f ü", arguments: "{}" }),
        result("a"),
      ],
      expected: [
        { role: "user", content: [text("hi")] },
        { role: "assistant", content: [{ ...toolUse("a"), name: "functions_f__" }] },
        { role: "user", content: [toolResult("a")] },
      ],
    },
    {
      name: "thinking is sent in its place with its signature, and thinking without a signature is dropped",
      given: [
        user("hi"),
        assistant(
          thinkingItem("hm"),
          { type: "reasoning", text: "", opaque: { type: "redacted_thinking", data: "ZW5j" } },
          thinkingItem("", "aGlkZGVu"),
          thinkingItem("lost", ""),
          textItem("ok"),
          thinkingItem("and then"),
          call("a"),
        ),
        result("a"),
      ],
      expected: [
        { role: "user", content: [text("hi")] },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "c2ln" },
            { type: "redacted_thinking", data: "ZW5j" },
            { type: "thinking", thinking: "", signature: "aGlkZGVu" },
            text("ok"),
            { type: "thinking", thinking: "and then", signature: "c2ln" },
            toolUse("a"),
          ],
        },
        { role: "user", content: [toolResult("a")] },
      ],
    },
    {
      name: "hosted tools and citations are sent unchanged",
      given: [
        user("hi"),
        assistant(hosted(searchUse("s")), hosted(searchResult("s")), {
          type: "text",
          text: "It rains.",
          opaque: {
            citations: [
              {
                type: "web_search_result_location",
                url: "https://a.example",
                encrypted_index: "eA==",
              },
            ],
          },
        }),
        user("go on"),
      ],
      expected: [
        { role: "user", content: [text("hi")] },
        {
          role: "assistant",
          content: [
            searchUse("s"),
            searchResult("s"),
            {
              ...text("It rains."),
              citations: [
                {
                  type: "web_search_result_location",
                  url: "https://a.example",
                  encrypted_index: "eA==",
                },
              ],
            },
          ],
        },
        { role: "user", content: [text("go on")] },
      ],
    },
    {
      name: "items of another format are not sent",
      given: [
        user("hi"),
        assistant({ type: "hosted", name: "web_search", opaque: { id: "ws_1" } }, textItem("ok")),
        user("go on"),
      ],
      expected: [
        { role: "user", content: [text("hi")] },
        { role: "assistant", content: [text("ok")] },
        { role: "user", content: [text("go on")] },
      ],
    },
  ])("$name", ({ given, expected }) => expect(messages(given)).toEqual(expected));
});

describe("the container that ran code", () => {
  const ran = { type: "bash_code_execution_tool_result", tool_use_id: "c", content: {} };
  const use = { type: "server_tool_use", id: "c", name: "bash_code_execution", input: {} };
  const list = [
    user("hi"),
    assistant(hosted(use), hosted(ran, { container: "container_1" }), textItem("ok")),
    user("go on"),
  ];

  it("is sent again, so that its files are available", () => {
    expect(
      body({ messages: list, hostedTools: [{ name: "code_execution", maxUses: 1 }] }).container,
    ).toBe("container_1");
  });

  it("is not sent if no code may run", () => {
    expect(body({ messages: list })).not.toHaveProperty("container");
  });
});
