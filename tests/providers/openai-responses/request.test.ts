import { describe, expect, it } from "vitest";
import { hostById } from "../../../src/providers/hosts";
import { PARAMS } from "../../../src/providers/openai-responses/params";
import { toBody } from "../../../src/providers/openai-responses/request";
import type { Message, ModelRequest, ReplyItem } from "../../../src/providers/provider";

const OPENAI = hostById("openai");
const XAI = hostById("xai");
const AZURE = hostById("azure_openai");
const OTHER = hostById("unlisted");
const tool = { name: "vote", description: "Votes.", parameters: { type: "object" } };
const search = { name: "web_search", maxUses: 3 } as const;
const code = { name: "code_execution", maxUses: 2 } as const;

const request = (change: Partial<ModelRequest> = {}): ModelRequest => ({
  model: "gpt-4.1",
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
const body = (change: Partial<ModelRequest> = {}, host = OPENAI, background = false) =>
  JSON.parse(JSON.stringify(toBody(request(change), host, background)));
const input = (messages: Message[]) => body({ messages }).input;
const reply = (...items: ReplyItem[]): Message => ({ role: "assistant", items });

describe("the body", () => {
  it("requests a stream of a reply that is not stored", () => {
    expect(body()).toEqual({
      model: "gpt-4.1",
      instructions: "be brief",
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] }],
      max_output_tokens: 100,
      store: false,
      stream: true,
    });
  });

  it("lets the provider store a background reply", () => {
    expect(body({}, OPENAI, true)).toMatchObject({ background: true, store: true, stream: true });
  });

  it("has no output cap and no instructions if none are set", () => {
    const sent = body({ maxOutputTokens: null, system: "" });
    expect(sent).not.toHaveProperty("max_output_tokens");
    expect(sent).not.toHaveProperty("instructions");
  });

  it("offers functions in the flat form without strict mode", () => {
    expect(body({ tools: [tool] }).tools).toEqual([{ type: "function", ...tool, strict: false }]);
  });

  it.each([
    {
      name: "sends no tool choice without tools",
      change: { toolChoice: "required" as const },
      host: OPENAI,
      expected: undefined,
    },
    {
      name: "forces a tool if the host supports it",
      change: { tools: [tool], toolChoice: "required" as const },
      host: OPENAI,
      expected: "required",
    },
    {
      name: "does not force a tool at an unknown host",
      change: { tools: [tool], toolChoice: "required" as const },
      host: OTHER,
      expected: "auto",
    },
    {
      name: "does not force a call if there are only hosted tools",
      change: { hostedTools: [search], toolChoice: "required" as const },
      host: OPENAI,
      expected: "auto",
    },
    {
      name: "leaves the choice to the model",
      change: { tools: [tool] },
      host: OPENAI,
      expected: "auto",
    },
  ])("$name", ({ change, host, expected }) => {
    expect(body(change, host).tool_choice).toBe(expected);
  });
});

describe("hosted tools", () => {
  it("follow the functions, with the names of the host, a limit on their uses, and a request for their results", () => {
    expect(body({ tools: [tool], hostedTools: [search, code] })).toMatchObject({
      tools: [
        { name: "vote" },
        { type: "web_search" },
        { type: "code_interpreter", container: { type: "auto" } },
      ],
      max_tool_calls: 5,
      include: ["web_search_call.action.sources", "code_interpreter_call.outputs"],
    });
  });

  it("are limited in turns if the host counts turns", () => {
    const sent = body({ hostedTools: [{ name: "x_search", maxUses: 4 }] }, XAI);
    expect(sent).toMatchObject({ tools: [{ type: "x_search" }], max_turns: 4 });
    expect(sent).not.toHaveProperty("max_tool_calls");
  });

  it("are omitted if the host has none of that name", () => {
    const sent = body({ hostedTools: [search] }, OTHER);
    expect(sent).not.toHaveProperty("tools");
    expect(sent).not.toHaveProperty("tool_choice");
  });

  it("have no limit in the request if none is offered", () => {
    expect(body({ tools: [tool] })).not.toHaveProperty("max_tool_calls");
  });
});

describe("encrypted reasoning", () => {
  it.each([
    {
      name: "a model that thinks",
      model: "gpt-5-mini",
      host: OPENAI,
      params: {},
      isRequested: true,
    },
    {
      name: "an older model that thinks",
      model: "o3-2025-04-16",
      host: OPENAI,
      params: {},
      isRequested: true,
    },
    { name: "an unknown model", model: "gpt-6-astra", host: OPENAI, params: {}, isRequested: true },
    {
      name: "a deployment named after its model",
      model: "gpt-5",
      host: AZURE,
      params: {},
      isRequested: true,
    },
    {
      name: "a deployment with a reasoning effort",
      model: "our-deployment",
      host: AZURE,
      params: { reasoning_effort: "low" },
      isRequested: true,
    },
    {
      name: "another vendor's model that thinks",
      model: "grok-4",
      host: XAI,
      params: {},
      isRequested: true,
    },
    {
      name: "a model that does not think",
      model: "gpt-4o",
      host: OPENAI,
      params: {},
      isRequested: false,
    },
    {
      name: "a chat model of a family that thinks",
      model: "gpt-5-chat-latest",
      host: OPENAI,
      params: {},
      isRequested: false,
    },
    {
      name: "a deployment of any name",
      model: "our-deployment",
      host: AZURE,
      params: {},
      isRequested: false,
    },
    {
      name: "a deployment without thinking",
      model: "grok-4-fast-non-reasoning",
      host: XAI,
      params: {},
      isRequested: false,
    },
    {
      name: "an unknown host",
      model: "gpt-5",
      host: OTHER,
      params: { reasoning_effort: "low" },
      isRequested: false,
    },
  ])("is requested for $name: $isRequested", ({ model, host, params, isRequested }) => {
    expect(body({ model, params }, host).include).toEqual(
      isRequested ? ["reasoning.encrypted_content"] : undefined,
    );
  });
});

describe("parameters", () => {
  it("are sent unchanged, also those of extra_body", () => {
    const params = { temperature: 0.2, service_tier: "flex", extra_body: { top_logprobs: 5 } };
    const sent = body({ params });
    expect(sent).toMatchObject({ temperature: 0.2, service_tier: "flex", top_logprobs: 5 });
    expect(sent).not.toHaveProperty("extra_body");
  });

  it.each([
    {
      name: "reasoning_effort",
      params: { reasoning_effort: "low" },
      expected: { reasoning: { effort: "low" } },
    },
    {
      name: "model_reasoning_effort",
      params: { model_reasoning_effort: "high" },
      expected: { reasoning: { effort: "high" } },
    },
    { name: "verbosity", params: { verbosity: "low" }, expected: { text: { verbosity: "low" } } },
    {
      name: "long and short names together, of which the long name is used",
      params: { reasoning_effort: "low", reasoning: { effort: "high", summary: "auto" } },
      expected: { reasoning: { effort: "high", summary: "auto" } },
    },
    {
      name: "a part of extra_body next to a short name",
      params: { verbosity: "low", extra_body: { text: { format: { type: "text" } } } },
      expected: { text: { format: { type: "text" }, verbosity: "low" } },
    },
  ])("sends $name as the API requires", ({ params, expected }) => {
    const sent = body({ params });
    expect(sent).toMatchObject(expected);
    for (const name of ["reasoning_effort", "model_reasoning_effort", "verbosity"])
      expect(sent).not.toHaveProperty(name);
  });

  it("request no reasoning summary and no parallel calls by default", () => {
    const sent = body({ model: "gpt-5", tools: [tool] });
    expect(sent).not.toHaveProperty("reasoning");
    expect(sent).not.toHaveProperty("parallel_tool_calls");
    expect(body({ params: { parallel_tool_calls: false } }).parallel_tool_calls).toBe(false);
  });

  it("do not change fields that the service sets", () => {
    const hostile = Object.fromEntries(
      [...PARAMS.reserved, ...PARAMS.outputCaps].map((name) => [name, "x"]),
    );
    const plain = body({ tools: [tool] });
    expect(body({ tools: [tool], params: hostile })).toEqual(plain);
    expect(body({ tools: [tool], params: { extra_body: hostile } })).toEqual(plain);
  });

  it.each([
    { model: "gpt-5", refused: true },
    { model: "gpt-5-mini-2025-08-07", refused: true },
    { model: "o3", refused: true },
    { model: "gpt-5.1", refused: false },
    { model: "gpt-4.1", refused: false },
    { model: "gpt-5-chat-latest", refused: false },
  ])("temperature with $model is refused beforehand: $refused", ({ model, refused }) => {
    const problems = PARAMS.check?.({ temperature: 0.2 }, model) ?? [];
    expect(problems.map(({ key }) => key)).toEqual(refused ? ["temperature"] : []);
  });
});

describe("the conversation", () => {
  const thought = { id: "rs_1", summary: [], encrypted_content: "gAAAA" };

  it("is sent item by item, in its order and with the names of the provider", () => {
    const hosted = {
      type: "web_search_call",
      id: "ws_1",
      status: "completed",
      action: { type: "search", query: "q" },
    };
    const messages: Message[] = [
      { role: "user", text: "hi" },
      reply(
        { type: "reasoning", text: "", opaque: thought },
        { type: "hosted", name: "web_search", opaque: hosted },
        { type: "text", text: "Let me see.", opaque: { phase: "commentary" } },
        {
          type: "tool_call",
          id: "call_1",
          name: "read",
          arguments: '{"path":"a"}',
          opaque: { id: "fc_1" },
        },
      ),
      { role: "tool", toolCallId: "call_1", name: "read", text: "text of a", isError: false },
    ];
    expect(input(messages).slice(1)).toEqual([
      { type: "reasoning", ...thought },
      hosted,
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "Let me see." }],
        phase: "commentary",
      },
      {
        type: "function_call",
        id: "fc_1",
        call_id: "call_1",
        name: "read",
        arguments: '{"path":"a"}',
      },
      { type: "function_call_output", call_id: "call_1", output: "text of a" },
    ]);
  });

  it.each([
    {
      name: "reasoning that the provider did not store",
      items: [{ type: "reasoning" as const, text: "hm" }],
    },
    {
      name: "reasoning without a following item",
      items: [{ type: "reasoning" as const, text: "hm", opaque: thought }],
    },
    { name: "an empty text", items: [{ type: "text" as const, text: "" }] },
  ])("omits $name", ({ items }) => {
    expect(input([reply(...items), { role: "user", text: "go on" }])).toHaveLength(1);
  });

  it("never contains an invalid tool name", () => {
    const [sent] = input([
      reply({ type: "tool_call", id: "a", name: "multi_tool_use.parallel", arguments: "{}" }),
    ]);
    expect(sent.name).toBe("multi_tool_use_parallel");
  });

  it("contains an empty object in place of invalid arguments", () => {
    expect(
      input([reply({ type: "tool_call", id: "a", name: "vote", arguments: '{"agent' })])[0]
        .arguments,
    ).toBe("{}");
  });

  it.each([
    {
      name: "marks the failure of a tool",
      text: "no such file",
      isError: true,
      expected: "Error: no such file",
    },
    {
      name: "marks a failure only once",
      text: "Error: no such file",
      isError: true,
      expected: "Error: no such file",
    },
    { name: "keeps a result unchanged", text: "fine", isError: false, expected: "fine" },
  ])("$name", ({ text, isError, expected }) => {
    expect(input([{ role: "tool", toolCallId: "a", name: "read", text, isError }])[0].output).toBe(
      expected,
    );
  });
});
