import type { StopReason } from "../../src/protocol/events";
import { createOpenAiChat } from "../../src/providers/openai-chat";
import type { Reply, Wire } from "./wire";

/** Chat Completions as its servers speak it. */

const frame = (data: unknown) => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const chunk = (fields: object) =>
  frame({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1762000000, model: "some-model", ...fields });
const delta = (fields: object) => chunk({ choices: [{ index: 0, delta: fields, finish_reason: null }] });

const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  stop: "stop",
  tool_calls: "tool_calls",
  length: "length",
  content_filter: "content_filter",
  refusal: "stop",
  unknown: "something_new",
};

function encode({ reasoning = [], text = [], calls = [], stop, usage }: Reply): string[] {
  return [
    delta({ role: "assistant", content: "" }),
    ...reasoning.map((piece) => delta({ reasoning_content: piece })),
    ...text.map((piece) => delta({ content: piece })),
    ...(stop === "refusal" ? [delta({ refusal: "I cannot help with that." })] : []),
    ...calls.flatMap(encodeCall),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: FINISH_REASONS[stop] }] }),
    ...(usage ? [chunk({ choices: [], usage: encodeUsage(usage) })] : []),
    frame("[DONE]"),
  ];
}

function encodeCall({ id, name, pieces }: NonNullable<Reply["calls"]>[number], index: number): string[] {
  const first = delta({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
  return [first, ...pieces.map((piece) => delta({ tool_calls: [{ index, function: { arguments: piece } }] }))];
}

function encodeUsage(usage: NonNullable<Reply["usage"]>): object {
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.input_tokens + usage.output_tokens,
    prompt_tokens_details: { cached_tokens: usage.cached_tokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
  };
}

const error = (code: string | null, message: string, type = "invalid_request_error") => ({
  error: { message, type, param: null, code },
});

export const OPENAI_CHAT: Wire = {
  name: "Chat Completions",
  basePath: "/v1",
  path: "/chat/completions",
  create: createOpenAiChat,
  keyHeader: { name: "authorization", value: (key) => `Bearer ${key}` },
  encode,
  completes: (text) => /"finish_reason":"/.test(text),
  errors: [
    {
      name: "a wrong key",
      status: 401,
      body: error("invalid_api_key", "Incorrect API key provided"),
      failureClass: "bad_credentials",
    },
    {
      name: "an unknown model",
      status: 404,
      body: error("model_not_found", "The model does not exist"),
      failureClass: "unknown_model",
    },
    {
      name: "a context too long",
      status: 400,
      body: error("context_length_exceeded", "This model's maximum context length is 128000 tokens."),
      failureClass: "context_too_long",
    },
    {
      name: "a content filter",
      status: 400,
      body: error("content_filter", "The prompt was filtered"),
      failureClass: "content_filter",
    },
    { name: "a quota used up", status: 429, body: error("insufficient_quota", "You exceeded your quota"), failureClass: "quota" },
    { name: "a bad request", status: 400, body: error(null, "Invalid value for 'temperature'"), failureClass: "bad_request" },
    { name: "a rate limit", status: 429, body: error("rate_limit_exceeded", "Rate limit reached"), failureClass: "transient" },
  ],
  midStreamError: { frame: frame(error(null, "The server had an error", "server_error")), failureClass: "transient" },
  stops: ["stop", "length", "content_filter", "refusal", "unknown"],
  hostedTools: [],
};
