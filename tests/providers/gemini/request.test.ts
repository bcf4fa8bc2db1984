import { describe, expect, it } from "vitest";
import type { Message, ModelRequest } from "../../../src/providers/provider";
import { body, calls, decode, finishChunk, part, textChunk, sent, stored } from "./calls";

const vote = {
  name: "vote",
  description: "Votes.",
  parameters: { type: "object", properties: { agent_id: { type: "string" } } },
};
const search = { name: "web_search" as const, maxUses: 3 };
const code = { name: "code_execution" as const, maxUses: 3 };
const declared = {
  functionDeclarations: [
    { name: "vote", description: "Votes.", parametersJsonSchema: vote.parameters },
  ],
};

describe("a request", () => {
  it.each<{ name: string; given: Partial<ModelRequest>; has: object; lacks?: string[] }>([
    {
      name: "has the instructions once, in their own field",
      given: { system: "be brief" },
      has: {
        systemInstruction: { parts: [{ text: "be brief" }] },
        contents: [{ role: "user", parts: [{ text: "hello" }] }],
      },
    },
    {
      name: "has no instructions field without instructions",
      given: {},
      has: {},
      lacks: ["systemInstruction"],
    },
    {
      name: "caps the output",
      given: { maxOutputTokens: 77 },
      has: { generationConfig: { maxOutputTokens: 77 } },
    },
    {
      name: "offers tools with the schema as JSON Schema",
      given: { tools: [vote] },
      has: { tools: [declared], toolConfig: { functionCallingConfig: { mode: "AUTO" } } },
    },
    {
      name: "forces a call",
      given: { tools: [vote], toolChoice: "required" },
      has: { toolConfig: { functionCallingConfig: { mode: "ANY" } } },
    },
    {
      name: "forces no call without tools",
      given: { toolChoice: "required" },
      has: {},
      lacks: ["toolConfig", "tools"],
    },
    {
      name: "offers hosted tools alone with any model",
      given: { hostedTools: [search, code] },
      has: { tools: [{ googleSearch: {} }, { codeExecution: {} }] },
      lacks: ["toolConfig"],
    },
    {
      name: "offers hosted tools next to functions if the model accepts both",
      given: { model: "gemini-3.8-flash", tools: [vote], hostedTools: [search] },
      has: {
        tools: [{ googleSearch: {} }, declared],
        toolConfig: {
          functionCallingConfig: { mode: "VALIDATED" },
          includeServerSideToolInvocations: true,
        },
      },
    },
    {
      name: "can force a call next to hosted tools",
      given: {
        model: "gemini-3.8-flash",
        tools: [vote],
        hostedTools: [search],
        toolChoice: "required",
      },
      has: {
        toolConfig: {
          functionCallingConfig: { mode: "ANY" },
          includeServerSideToolInvocations: true,
        },
      },
    },
    {
      name: "sends the sampling parameters with the names of the provider",
      given: {
        params: {
          temperature: 0,
          top_p: 0.5,
          top_k: 3,
          seed: 4,
          stop: ["END"],
          service_tier: "flex",
        },
      },
      has: {
        generationConfig: { temperature: 0, topP: 0.5, topK: 3, seed: 4, stopSequences: ["END"] },
        serviceTier: "flex",
      },
    },
    {
      name: "sends safety settings written as a mapping",
      given: {
        params: { safety_settings: { harassment: "block_none", HARM_CATEGORY_HATE_SPEECH: "OFF" } },
      },
      has: {
        safetySettings: [
          { category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" },
          { category: "HARM_CATEGORY_HATE_SPEECH", threshold: "OFF" },
        ],
      },
    },
    {
      name: "sends safety settings written as a list",
      given: {
        params: {
          safety_settings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_ONLY_HIGH" }],
        },
      },
      has: {
        safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_ONLY_HIGH" }],
      },
    },
    {
      name: "sends the additional fields of the config next to its own",
      given: {
        maxOutputTokens: 9,
        params: { extra_body: { generationConfig: { presencePenalty: 0.5 }, store: false } },
      },
      has: { generationConfig: { presencePenalty: 0.5, maxOutputTokens: 9 }, store: false },
    },
  ])("$name", async ({ given, has, lacks = [] }) => {
    const request = await body(given);
    expect(request).toMatchObject(has);
    for (const key of lacks) expect(request).not.toHaveProperty(key);
  });

  it.each([
    ["the cap of the output", { generationConfig: { maxOutputTokens: 9_999 } }],
    [
      "the cap of the output in the other spelling",
      { generation_config: { max_output_tokens: 9_999 } },
    ],
    ["the number of replies", { generationConfig: { candidateCount: 4 } }],
    ["the conversation", { contents: [] }],
    ["the instructions", { system_instruction: { parts: [{ text: "obey" }] } }],
    [
      "the tools",
      { tools: [{ urlContext: {} }], tool_config: { functionCallingConfig: { mode: "NONE" } } },
    ],
  ])("does not let the config change %s", async (_, extra_body) => {
    const request = { system: "be brief", tools: [vote], maxOutputTokens: 9 };
    expect(await body({ ...request, params: { extra_body } })).toEqual(await body(request));
  });

  it("is refused before it is sent if the model does not accept hosted tools next to functions", async () => {
    await expect(body({ tools: [vote], hostedTools: [search, code] })).rejects.toMatchObject({
      failureClass: "bad_request",
      message: "gemini-2.5-flash takes web_search, code_execution only without other tools.",
    });
  });

  it("is refused before it is sent if the SDK does not accept the model name", async () => {
    await expect(body({ model: "gemini/../x?y" })).rejects.toMatchObject({
      failureClass: "bad_request",
    });
  });
});

describe("the URL", () => {
  it.each([
    [
      "https://provider.test",
      "https://provider.test/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    ],
    [
      "https://provider.test/v1",
      "https://provider.test/v1/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    ],
    [
      "https://proxy.test/google/v1beta",
      "https://proxy.test/google/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    ],
    [
      "https://proxy.test/gemini",
      "https://proxy.test/gemini/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    ],
  ])("%s is the part before the models", async (baseUrl, url) => {
    expect((await sent({}, baseUrl)).url).toBe(url);
  });

  it("gets the key and no header of the SDK", async () => {
    const { headers } = await sent({});
    expect([...headers.keys()].sort()).toEqual(["content-type", "user-agent", "x-goog-api-key"]);
  });
});

const assistant = (...items: Extract<Message, { role: "assistant" }>["items"]): Message => ({
  role: "assistant",
  items,
});
const result = (toolCallId: string, name: string, text = "ok", isError = false): Message => ({
  role: "tool",
  toolCallId,
  name,
  text,
  isError,
});
const contents = async (...messages: Message[]) => (await body({ messages }))["contents"];

describe("the conversation", () => {
  it("returns the parts of a reply unchanged, in their order", async () => {
    const parts = [
      { text: "let me think", thought: true },
      { text: "I will look it up.", thoughtSignature: "sig0" },
      {
        toolCall: { toolType: "GOOGLE_SEARCH_WEB", args: { queries: ["q"] }, id: "t1" },
        thoughtSignature: "sig1",
      },
      { toolResponse: { toolType: "GOOGLE_SEARCH_WEB", response: { a: [1] }, id: "t1" } },
      {
        executableCode: { language: "PYTHON", code: "print(1)", id: "c1" },
        thoughtSignature: "sig2",
      },
      { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1", id: "c1" } },
      {
        functionCall: { id: "f1", name: "vote", args: { agent_id: "agent1" } },
        thoughtSignature: "sig3",
      },
      { functionCall: { id: "f2", name: "read_file", args: {} } },
      { text: "", thoughtSignature: "sig4" },
    ];
    const { stop } = decode([...parts.map((one) => part(one)), finishChunk("STOP")]);
    const [reply] = (await body({ messages: [assistant(...stored(stop.items))] }))[
      "contents"
    ] as object[];
    expect(reply).toEqual({ role: "model", parts });
  });

  it("contains all results of one reply in one content, with the ids of the provider", async () => {
    const { stop } = decode([
      calls("vote", {}, { id: "x" }),
      calls("vote", {}, { id: "x" }),
      calls("read_file", {}),
      finishChunk("STOP"),
    ]);
    const ids = stop.items.flatMap((item) => (item.type === "tool_call" ? [item.id] : []));
    const [a = "", b = "", c = ""] = ids;
    const round = [
      result(a, "vote", "one"),
      result(b, "vote", "two", true),
      result(c, "read_file", "three"),
    ];
    expect(
      (await body({ messages: [assistant(...stored(stop.items)), ...round] }))["contents"],
    ).toMatchObject([
      { role: "model" },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "x", name: "vote", response: { result: "one" } } },
          { functionResponse: { id: "x", name: "vote", response: { error: "two" } } },
          { functionResponse: { name: "read_file", response: { result: "three" } } },
        ],
      },
    ]);
  });

  it("never sends an id that the provider did not send", async () => {
    const { stop } = decode([calls("vote", {}), finishChunk("STOP")]);
    const id = stop.items.flatMap((item) => (item.type === "tool_call" ? [item.id] : []))[0] ?? "";
    const text = JSON.stringify(
      await contents(assistant(...stored(stop.items)), result(id, "vote")),
    );
    expect(id).not.toBe("");
    expect(text).not.toContain(id);
  });

  it("keeps messages after the results separate", async () => {
    const call = { type: "tool_call" as const, id: "a", name: "vote", arguments: "{}" };
    expect(
      await contents(assistant(call), result("a", "vote"), { role: "user", text: "newer answers" }),
    ).toMatchObject([
      { role: "model" },
      { role: "user", parts: [{ functionResponse: { name: "vote" } }] },
      { role: "user", parts: [{ text: "newer answers" }] },
    ]);
  });

  it("omits an empty reply, and sends invalid arguments as an empty object", async () => {
    const call = { type: "tool_call" as const, id: "a", name: "vote", arguments: "[1" };
    expect(await contents({ role: "user", text: "hi" }, assistant(), assistant(call))).toEqual([
      { role: "user", parts: [{ text: "hi" }] },
      { role: "model", parts: [{ functionCall: { name: "vote", args: {} } }] },
    ]);
  });

  it("keeps the text before the calls", async () => {
    const { stop } = decode([
      textChunk("First I "),
      textChunk("look."),
      calls("read_file", {}),
      finishChunk("STOP"),
    ]);
    expect(await contents(assistant(...stored(stop.items)))).toMatchObject([
      {
        role: "model",
        parts: [{ text: "First I look." }, { functionCall: { name: "read_file" } }],
      },
    ]);
  });
});
