import type { StopReason } from "../../src/protocol/events";
import { createOpenAiChat } from "../../src/providers/openai-chat";
import { hostById } from "../../src/providers/hosts";
import { isJsonObject, parseJson } from "../../src/providers/json";
import type { Reply, Wire } from "./wire";

/** Chat Completions as servers implement it. */

const frame = (data: unknown) =>
  `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
const chunk = (fields: object) =>
  frame({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1762000000,
    model: "some-model",
    ...fields,
  });
const delta = (fields: object) =>
  chunk({ choices: [{ index: 0, delta: fields, finish_reason: null }] });

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

function encodeCall(
  { id, name, pieces }: NonNullable<Reply["calls"]>[number],
  index: number,
): string[] {
  const first = delta({
    tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }],
  });
  return [
    first,
    ...pieces.map((piece) => delta({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ];
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
      name: "a context that is too long",
      status: 400,
      body: error(
        "context_length_exceeded",
        "This model's maximum context length is 128000 tokens.",
      ),
      failureClass: "context_too_long",
    },
    {
      name: "a content filter",
      status: 400,
      body: error("content_filter", "The prompt was filtered"),
      failureClass: "content_filter",
    },
    {
      name: "an exhausted quota",
      status: 429,
      body: error("insufficient_quota", "You exceeded your quota"),
      failureClass: "quota",
    },
    {
      name: "a bad request",
      status: 400,
      body: error(null, "Invalid value for 'temperature'"),
      failureClass: "bad_request",
    },
    {
      name: "a rate limit",
      status: 429,
      body: error("rate_limit_exceeded", "Rate limit reached"),
      failureClass: "transient",
    },
  ],
  midStreamError: {
    frame: frame(error(null, "The server had an error", "server_error")),
    failureClass: "transient",
  },
  stops: ["stop", "length", "content_filter", "refusal", "unknown"],
  hostedTools: [],
  acceptsHistory,
  prefixOf,
};

/** The format at hosts whose thinking models refuse calls without the reasoning before them. */
export const OPENAI_CHAT_THINKING: Wire = {
  ...OPENAI_CHAT,
  name: "Chat, thinking",
  framesOf: OPENAI_CHAT.name,
  create: (options) => createOpenAiChat({ ...options, host: hostById("deepseek") }),
  acceptsHistory: (body) => acceptsHistory(body) ?? missingReasoning(body),
};

function missingReasoning(body: unknown): string | null {
  const index = listOf(fieldsOf(body)["messages"])
    .map(fieldsOf)
    .findIndex(
      ({ role, tool_calls, reasoning_content }) =>
        role === "assistant" && tool_calls && !reasoning_content,
    );
  return index < 0 ? null : `messages[${index}]: calls without their reasoning`;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  isJsonObject(value) ? value : {};

function prefixOf(body: unknown): readonly unknown[] {
  const { tools, messages } = fieldsOf(body);
  return [...listOf(tools), ...listOf(messages)];
}

/**
 * Checks the rules of the strictest servers: a message with calls is followed directly by one
 * result for each call, in order, and all ids are unique.
 */
function acceptsHistory(body: unknown): string | null {
  const usedIds = new Set<unknown>();
  let openIds: unknown[] = [];
  for (const [n, message] of listOf(fieldsOf(body)["messages"]).map(fieldsOf).entries()) {
    const path = `messages[${n}]`;
    if (message["role"] === "tool") {
      if (message["tool_call_id"] !== openIds.shift())
        return `${path}: a result in the wrong place`;
      if (typeof message["content"] !== "string") return `${path}: a result without text`;
      continue;
    }
    if (openIds.length > 0) return `${path}: calls ${openIds.join(", ")} have no result`;
    if (message["role"] === "system" && n > 0)
      return `${path}: instructions after the first message`;
    if (message["role"] !== "assistant") continue;
    const calls = listOf(message["tool_calls"]).map(fieldsOf);
    if (calls.length === 0 && !message["content"]) return `${path}: an empty message`;
    const problem = calls.map((call) => callProblem(call, usedIds)).find((text) => text !== null);
    if (problem) return `${path}: ${problem}`;
    openIds = calls.map((call) => call["id"]);
  }
  return openIds.length > 0 ? `calls ${openIds.join(", ")} have no result` : null;
}

function callProblem(
  { id, function: called }: Readonly<Record<string, unknown>>,
  usedIds: Set<unknown>,
): string | null {
  const { name, arguments: text } = fieldsOf(called);
  if (typeof id !== "string" || id === "" || usedIds.has(id)) return `id ${id} is missing or used`;
  usedIds.add(id);
  if (typeof name !== "string" || name === "") return "a call without a name";
  return typeof text === "string" && isJsonObject(parseJson(text))
    ? null
    : "arguments that are not a JSON object";
}
