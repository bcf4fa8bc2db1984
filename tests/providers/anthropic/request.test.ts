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
  said,
  searchResult,
  searchUse,
  thought,
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
  it("asks for a stream, with the system text apart from the messages", () => {
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
    { name: "a model's own maximum", model: "claude-opus-4-1", gives: 32_000 },
    { name: "at most a quarter of its window", model: "claude-sonnet-4-5", gives: 50_000 },
    {
      name: "a cautious assumption for an unlisted model",
      model: "claude-nonesuch-9",
      gives: 16_384,
    },
  ])("caps the output, as the API requires, at $name", ({ model, gives }) => {
    expect(body({ model, maxOutputTokens: null }).max_tokens).toBe(gives);
  });

  it("offers tools by name, description and schema", () => {
    expect(body({ tools: [TOOL] }).tools).toEqual([
      { name: "vote", description: "Votes.", input_schema: { type: "object", properties: {} } },
    ]);
  });

  it.each([
    {
      name: "no choice without tools",
      change: { toolChoice: "required" as const },
      gives: undefined,
    },
    { name: "a free choice", change: { tools: [TOOL] }, gives: { type: "auto" } },
    {
      name: "a forced call",
      change: { tools: [TOOL], toolChoice: "required" as const },
      gives: { type: "any" },
    },
    {
      name: "no forced call of a model with requested thinking",
      change: {
        tools: [TOOL],
        toolChoice: "required" as const,
        params: { max_thinking_tokens: 2_000 },
      },
      gives: { type: "auto" },
    },
    {
      name: "no forced call of a model that thinks by default",
      change: { tools: [TOOL], toolChoice: "required" as const, model: "claude-opus-5-5" },
      gives: { type: "auto" },
    },
  ])("sends $name", ({ change, gives }) => expect(body(change).tool_choice).toEqual(gives));

  it("offers hosted tools after the agent's own, searches with a limit", () => {
    const hostedTools = [
      { name: "web_search" as const, maxUses: 3 },
      { name: "code_execution" as const, maxUses: 2 },
    ];
    expect(body({ tools: [TOOL], hostedTools }).tools.slice(1)).toEqual([
      { type: "web_search_20250305", name: "web_search", max_uses: 3 },
      { type: "code_execution_20250825", name: "code_execution" },
    ]);
  });

  it("sends the config's parameters and those of extra_body unchanged", () => {
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

  it("lets no parameter change the service's own fields", () => {
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
      name: "the config's",
      params: { betas: ["a-2026-01-01", "b"] },
      model: "claude-sonnet-4-5",
      gives: "a-2026-01-01,b",
    },
    { name: "none by default", params: {}, model: "claude-sonnet-4-5", gives: "" },
    {
      name: "the service's added to the config's",
      params: { betas: ["a", "a"] },
      model: "claude-opus-5-5",
      gives: "a,thinking-binding-controls-2026-08-01",
    },
    {
      name: "no value that would break the header",
      params: { betas: ["a\r\nx: y", 7] },
      model: "claude-sonnet-4-5",
      gives: "",
    },
  ])("names betas: $name", ({ params, model, gives }) =>
    expect(toBetas(request({ params, model }))).toBe(gives),
  );
});

describe("messages", () => {
  it.each<{ name: string; given: Message[]; gives: unknown[] }>([
    {
      name: "results of one reply's calls are sent together, before the user's text",
      given: [
        user("hi"),
        assistant(said("let me see"), call("a"), call("b")),
        user("news"),
        result("a"),
        result("b", "no", true),
      ],
      gives: [
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
      gives: [{ role: "user", content: [text("one"), text("two")] }],
    },
    {
      name: "adjacent assistant messages become one",
      given: [user("hi"), assistant(said("one")), assistant(said("two")), user("go on")],
      gives: [
        { role: "user", content: [text("hi")] },
        { role: "assistant", content: [text("one"), text("two")] },
        { role: "user", content: [text("go on")] },
      ],
    },
    {
      name: "blank texts are never sent, nor a message without other parts",
      given: [
        user("hi"),
        assistant(said(" \n"), { type: "reasoning", text: "unsigned" }),
        user(""),
        user("go on"),
      ],
      gives: [{ role: "user", content: [text("hi"), text("go on")] }],
    },
    {
      name: "a blank result has no content",
      given: [user("hi"), assistant(call("a")), result("a", " ")],
      gives: [
        { role: "user", content: [text("hi")] },
        { role: "assistant", content: [toolUse("a")] },
        { role: "user", content: [toolResult("a", {})] },
      ],
    },
    {
      name: "a failed tool without a text has a default text",
      given: [user("hi"), assistant(call("a")), result("a", "", true)],
      gives: [
        { role: "user", content: [text("hi")] },
        { role: "assistant", content: [toolUse("a")] },
        {
          role: "user",
          content: [toolResult("a", { content: "The tool failed.", is_error: true })],
        },
      ],
    },
    {
      name: "broken arguments are sent as an empty object, also a list",
      given: [
        user("hi"),
        assistant(call("a", '{"x":'), call("b", "[1]"), call("c", '{"x":1}')),
        result("a"),
        result("b"),
        result("c"),
      ],
      gives: [
        { role: "user", content: [text("hi")] },
        { role: "assistant", content: [toolUse("a"), toolUse("b"), toolUse("c", { x: 1 })] },
        { role: "user", content: [toolResult("a"), toolResult("b"), toolResult("c")] },
      ],
    },
    {
      name: "an invented name is sent as the API allows",
      given: [
        user("hi"),
        assistant({ type: "tool_call", id: "a", name: "functions.f ü", arguments: "{}" }),
        result("a"),
      ],
      gives: [
        { role: "user", content: [text("hi")] },
        { role: "assistant", content: [{ ...toolUse("a"), name: "functions_f__" }] },
        { role: "user", content: [toolResult("a")] },
      ],
    },
    {
      name: "thinking is sent in its place with its signature, also hidden and redacted thinking; unsigned thinking is not",
      given: [
        user("hi"),
        assistant(
          thought("hm"),
          { type: "reasoning", text: "", opaque: { type: "redacted_thinking", data: "ZW5j" } },
          thought("", "aGlkZGVu"),
          thought("lost", ""),
          said("ok"),
          thought("and then"),
          call("a"),
        ),
        result("a"),
      ],
      gives: [
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
      name: "hosted work and citations are sent unchanged",
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
      gives: [
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
        assistant({ type: "hosted", name: "web_search", opaque: { id: "ws_1" } }, said("ok")),
        user("go on"),
      ],
      gives: [
        { role: "user", content: [text("hi")] },
        { role: "assistant", content: [text("ok")] },
        { role: "user", content: [text("go on")] },
      ],
    },
  ])("$name", ({ given, gives }) => expect(messages(given)).toEqual(gives));
});

describe("the container that ran code", () => {
  const ran = { type: "bash_code_execution_tool_result", tool_use_id: "c", content: {} };
  const use = { type: "server_tool_use", id: "c", name: "bash_code_execution", input: {} };
  const list = [
    user("hi"),
    assistant(hosted(use), hosted(ran, { container: "container_1" }), said("ok")),
    user("go on"),
  ];

  it("is named again, so that its files exist", () => {
    expect(
      body({ messages: list, hostedTools: [{ name: "code_execution", maxUses: 1 }] }).container,
    ).toBe("container_1");
  });

  it("is not named if no code may run", () => {
    expect(body({ messages: list })).not.toHaveProperty("container");
  });
});
