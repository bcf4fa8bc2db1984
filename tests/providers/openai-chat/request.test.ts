import { describe, expect, it } from "vitest";
import { findHost, hostById } from "../../../src/providers/hosts";
import { toBody } from "../../../src/providers/openai-chat/request";
import type { Message, ModelRequest, ReplyItem } from "../../../src/providers/provider";

const OPENAI = findHost("https://api.openai.com/v1");
const OTHER = findHost("https://llm.example.org/v1");
const THINKING = findHost("https://api.deepseek.com");
const tool = { name: "vote", description: "Votes.", parameters: { type: "object" } };

const request = (change: Partial<ModelRequest> = {}): ModelRequest => ({
  model: "m",
  system: "be brief",
  messages: [{ role: "user", text: "hi" }],
  tools: [],
  toolChoice: "auto",
  maxOutputTokens: 100,
  params: {},
  hostedTools: [],
  continues: false,
  ...change,
});
const body = (change: Partial<ModelRequest>, host = OPENAI) =>
  JSON.parse(JSON.stringify(toBody(request(change), host)));
const messages = (list: Message[], host = OPENAI) =>
  body({ system: "", messages: list }, host).messages;

describe("the body", () => {
  it("requests a stream with usage", () => {
    expect(body({})).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "be brief" },
        { role: "user", content: "hi" },
      ],
      max_completion_tokens: 100,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it("sends no output cap if none is set", () => {
    expect(body({ maxOutputTokens: null })).not.toHaveProperty("max_completion_tokens");
  });

  it.each([
    {
      name: "caps output by max_completion_tokens at OpenAI",
      host: OPENAI,
      has: "max_completion_tokens",
      not: "max_tokens",
    },
    {
      name: "caps output by max_tokens elsewhere",
      host: OTHER,
      has: "max_tokens",
      not: "max_completion_tokens",
    },
  ])("$name", ({ host, has, not }) => {
    expect(body({}, host)).toHaveProperty(has, 100);
    expect(body({}, host)).not.toHaveProperty(not);
  });

  it.each([
    {
      name: "sends no tool choice without tools",
      tools: [],
      choice: "required" as const,
      host: OPENAI,
      expected: undefined,
    },
    {
      name: "forces a tool if the host supports it",
      tools: [tool],
      choice: "required" as const,
      host: OPENAI,
      expected: "required",
    },
    {
      name: "does not force a tool if the host does not support it",
      tools: [tool],
      choice: "required" as const,
      host: THINKING,
      expected: "auto",
    },
    {
      name: "does not force a tool at a router, because support depends on the model",
      tools: [tool],
      choice: "required" as const,
      host: hostById("openrouter"),
      expected: "auto",
    },
    {
      name: "does not force a tool at an unknown host",
      tools: [tool],
      choice: "required" as const,
      host: OTHER,
      expected: "auto",
    },
    {
      name: "leaves the choice to the model",
      tools: [tool],
      choice: "auto" as const,
      host: OPENAI,
      expected: "auto",
    },
  ])("$name", ({ tools, choice, host, expected }) => {
    expect(body({ tools, toolChoice: choice }, host).tool_choice).toBe(expected);
  });

  it("offers tools as functions", () => {
    expect(body({ tools: [tool] }).tools).toEqual([{ type: "function", function: tool }]);
  });

  it("sends the parameters of the config and of extra_body unchanged", () => {
    const params = {
      temperature: 0.2,
      stop: ["x"],
      extra_body: { top_k: 5, chat_template_kwargs: { enable_thinking: false } },
    };
    expect(body({ params })).toMatchObject({
      temperature: 0.2,
      stop: ["x"],
      top_k: 5,
      chat_template_kwargs: { enable_thinking: false },
    });
    expect(body({ params })).not.toHaveProperty("extra_body");
  });

  it("does not let a parameter change fields that the service sets", () => {
    const hostile = {
      model: "x",
      messages: [],
      stream: false,
      stream_options: {},
      tools: [tool],
      tool_choice: "none",
      max_tokens: 9,
      n: 3,
    };
    expect(body({ params: hostile })).toEqual(body({}));
    expect(body({ params: { extra_body: hostile } })).toEqual(body({}));
  });
});

describe("messages", () => {
  it.each<{ name: string; given: Message[]; expected: unknown[] }>([
    {
      name: "an assistant's text and calls, and the results in role tool",
      given: [
        {
          role: "assistant",
          items: [
            { type: "text", text: "let me " },
            { type: "text", text: "see" },
            { type: "tool_call", id: "a", name: "f", arguments: '{"x":1}' },
          ],
        },
        { role: "tool", toolCallId: "a", name: "f", text: "42", isError: false },
      ],
      expected: [
        {
          role: "assistant",
          content: "let me see",
          tool_calls: [
            { id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } },
          ],
        },
        { role: "tool", tool_call_id: "a", content: "42" },
      ],
    },
    {
      name: "calls without text have null content",
      given: [
        { role: "assistant", items: [{ type: "tool_call", id: "a", name: "f", arguments: "{}" }] },
      ],
      expected: [
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
        },
      ],
    },
    {
      name: "invalid arguments are sent as an empty object",
      given: [
        {
          role: "assistant",
          items: [{ type: "tool_call", id: "a", name: "f", arguments: '{"x":' }],
        },
      ],
      expected: [
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
        },
      ],
    },
    {
      name: "the text of a failed tool begins with Error",
      given: [{ role: "tool", toolCallId: "a", name: "f", text: "no such file", isError: true }],
      expected: [{ role: "tool", tool_call_id: "a", content: "Error: no such file" }],
    },
    {
      name: "an empty assistant message is omitted",
      given: [{ role: "assistant", items: [] }],
      expected: [],
    },
    {
      name: "reasoning is not sent back",
      given: [
        {
          role: "assistant",
          items: [
            { type: "reasoning", text: "hm" },
            { type: "text", text: "ok" },
          ],
        },
      ],
      expected: [{ role: "assistant", content: "ok" }],
    },
  ])("$name", ({ given, expected }) => expect(messages(given)).toEqual(expected));

  it.each(["workers_ai", "lmstudio", "vllm", "ollama"])(
    "calls without text have empty content at %s, which rejects null",
    (id) => {
      const items: ReplyItem[] = [{ type: "tool_call", id: "a", name: "f", arguments: "{}" }];
      expect(messages([{ role: "assistant", items }], hostById(id))).toMatchObject([
        { content: "" },
      ]);
    },
  );

  it.each([
    {
      name: "has a message of the model if the host requires it",
      host: hostById("mistral"),
      expected: ["tool", "assistant", "user"],
    },
    { name: "is empty otherwise", host: OPENAI, expected: ["tool", "user"] },
  ])("the place between tool results and the user's text $name", ({ host, expected }) => {
    const given: Message[] = [
      { role: "tool", toolCallId: "a", name: "f", text: "42", isError: false },
      { role: "user", text: "go on" },
    ];
    expect(messages(given, host).map(({ role }: { role: string }) => role)).toEqual(expected);
  });

  it("never sends an invalid tool name back", () => {
    const items: ReplyItem[] = [
      { type: "tool_call", id: "a", name: "multi_tool_use.parallel", arguments: "{}" },
    ];
    expect(messages([{ role: "assistant", items }])).toMatchObject([
      { tool_calls: [{ function: { name: "multi_tool_use_parallel" } }] },
    ]);
  });

  it("sends reasoning back to the hosts that require it", () => {
    const given: Message[] = [
      {
        role: "assistant",
        items: [
          { type: "reasoning", text: "hm" },
          { type: "text", text: "ok" },
        ],
      },
    ];
    expect(messages(given, THINKING)).toEqual([
      { role: "assistant", content: "ok", reasoning_content: "hm" },
    ]);
  });
});
