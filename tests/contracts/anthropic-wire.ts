import type { StopReason } from "../../src/protocol/events";
import type { HostedUse } from "../../src/protocol/hosted-tools";
import { createAnthropic } from "../../src/providers/anthropic";
import { isJsonObject } from "../../src/providers/json";
import type { Reply, Wire } from "./wire";

/** The Messages API as the provider implements it. */

type Frame = { type: string } & Readonly<Record<string, unknown>>;

export const frame = (data: Frame) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

const STOP_REASONS: Readonly<Record<StopReason, string>> = {
  stop: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
  content_filter: "refusal",
  refusal: "refusal",
  unknown: "something_new",
};

/** `start` is the block in `content_block_start`. */
type Block = { start: object; deltas: object[] };

function encode(reply: Reply): string[] {
  const { usage } = reply;
  const cacheWrite = usage?.cache_write_tokens ?? 0;
  const input = usage && {
    input_tokens: usage.input_tokens - usage.cached_tokens - cacheWrite,
    cache_read_input_tokens: usage.cached_tokens,
    cache_creation_input_tokens: cacheWrite,
    output_tokens: 1,
  };
  const output = usage && {
    output_tokens: usage.output_tokens,
    output_tokens_details: { thinking_tokens: usage.reasoning_tokens },
    server_tool_use: {
      web_search_requests: usage.hosted_uses?.web_search ?? 0,
      web_fetch_requests: 0,
    },
  };
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "some-model",
    content: [],
    stop_reason: null,
  };
  return [
    frame({ type: "message_start", message: { ...message, ...(input && { usage: input }) } }),
    frame({ type: "ping" }),
    ...blocksOf(reply).flatMap(encodeBlock),
    frame({
      type: "message_delta",
      delta: { stop_reason: STOP_REASONS[reply.stop], stop_sequence: null },
      ...(output && { usage: output }),
    }),
    frame({ type: "message_stop" }),
  ];
}

function blocksOf({ reasoning, hosted = [], text, citations = [], calls = [] }: Reply): Block[] {
  const sources = citations.map(({ url, title }) => ({
    type: "citations_delta",
    citation: {
      type: "web_search_result_location",
      url,
      title,
      cited_text: "as it says",
      encrypted_index: "aW5kZXg=",
    },
  }));
  return [
    ...(reasoning ? [thinkingBlock(reasoning)] : []),
    ...hosted.flatMap(hostedBlocks),
    ...(text
      ? [{ start: { type: "text", text: "" }, deltas: [...text.map(textDelta), ...sources] }]
      : []),
    ...calls.map(({ id, name, pieces }) => ({
      start: { type: "tool_use", id, name, input: {} },
      deltas: pieces.map(inputDelta),
    })),
  ];
}

const thinkingBlock = (pieces: readonly string[]): Block => ({
  start: { type: "thinking", thinking: "", signature: "" },
  deltas: [
    ...pieces.map((thinking) => ({ type: "thinking_delta", thinking })),
    { type: "signature_delta", signature: "c2lnbmF0dXJl" },
  ],
});
const textDelta = (text: string) => ({ type: "text_delta", text });
const inputDelta = (partial_json: string) => ({ type: "input_json_delta", partial_json });

function hostedBlocks({ name, input, outcome, output }: HostedUse, n: number): Block[] {
  const id = `srvtoolu_${n}`;
  const isSearch = name === "web_search";
  const use = {
    type: "server_tool_use",
    id,
    name: isSearch ? name : "bash_code_execution",
    input: {},
  };
  const type = `${use.name}_tool_result`;
  const pages = [
    {
      type: "web_search_result",
      url: "",
      title: output,
      encrypted_content: "cGFnZQ==",
      page_age: null,
    },
  ];
  const codeResult = {
    type: "bash_code_execution_result",
    stdout: output,
    stderr: "",
    return_code: 0,
    content: [],
  };
  const errorResult = { type: `${type}_error`, error_code: output };
  const content = outcome === "error" ? errorResult : isSearch ? pages : codeResult;
  return [
    {
      start: use,
      deltas: [
        inputDelta(isSearch ? '{"query":' : '{"command":'),
        inputDelta(`${JSON.stringify(input)}}`),
      ],
    },
    { start: { type, tool_use_id: id, content }, deltas: [] },
  ];
}

function encodeBlock({ start, deltas }: Block, index: number): string[] {
  const event = (type: string, fields: object) => frame({ type, index, ...fields });
  return [
    event("content_block_start", { content_block: start }),
    ...deltas.map((delta) => event("content_block_delta", { delta })),
    event("content_block_stop", {}),
  ];
}

const error = (type: string, message: string) => ({
  type: "error",
  error: { type, message },
  request_id: "req_011CSHoEeqs5C35K",
});

export const ANTHROPIC: Wire = {
  name: "Messages",
  basePath: "",
  path: "/v1/messages",
  create: createAnthropic,
  keyHeader: { name: "x-api-key", value: (key) => key },
  encode,
  completes: (text) => /"stop_reason":"/.test(text),
  errors: [
    {
      name: "a wrong key",
      status: 401,
      body: error("authentication_error", "invalid x-api-key"),
      failureClass: "bad_credentials",
    },
    {
      name: "a key without permission",
      status: 403,
      body: error(
        "permission_error",
        "Your API key does not have permission to use the specified resource.",
      ),
      failureClass: "bad_credentials",
    },
    {
      name: "an unknown model",
      status: 404,
      body: error("not_found_error", "model: claude-nonesuch-9"),
      failureClass: "unknown_model",
    },
    {
      name: "a request that is too large",
      status: 413,
      body: error("request_too_large", "Request exceeds the maximum size"),
      failureClass: "context_too_long",
    },
    {
      name: "a prompt that is too long",
      status: 400,
      body: error("invalid_request_error", "prompt is too long: 209853 tokens > 200000 maximum"),
      failureClass: "context_too_long",
    },
    {
      name: "an output cap larger than the rest of the window",
      status: 400,
      body: error(
        "invalid_request_error",
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
      ),
      failureClass: "context_too_long",
    },
    {
      name: "exhausted credit",
      status: 400,
      body: error(
        "invalid_request_error",
        "Your credit balance is too low to access the Anthropic API.",
      ),
      failureClass: "quota",
    },
    {
      name: "a bad request",
      status: 400,
      body: error(
        "invalid_request_error",
        "messages.1: `tool_use` ids were found without `tool_result` blocks",
      ),
      failureClass: "bad_request",
    },
    {
      name: "a rate limit",
      status: 429,
      body: error("rate_limit_error", "This request would exceed your organization's rate limit"),
      failureClass: "transient",
    },
    {
      name: "an overload",
      status: 529,
      body: error("overloaded_error", "Overloaded"),
      failureClass: "transient",
    },
    {
      name: "an internal error",
      status: 500,
      body: error("api_error", "Internal server error"),
      failureClass: "transient",
    },
  ],
  midStreamError: {
    frame: frame(error("overloaded_error", "Overloaded")),
    failureClass: "transient",
  },
  stops: ["stop", "length", "refusal", "unknown"],
  hostedTools: ["web_search", "code_execution"],
  reportsCacheWrites: true,
  acceptsHistory,
  prefixOf,
};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  isJsonObject(value) ? value : {};
const withoutMark = ({ cache_control: _, ...block }: Readonly<Record<string, unknown>>) => block;

function prefixOf(body: unknown): readonly unknown[] {
  const { tools, system, messages } = fieldsOf(body);
  const turns = listOf(messages)
    .map(fieldsOf)
    .map(({ role, content }) => ({
      role,
      content: listOf(content).map(fieldsOf).map(withoutMark),
    }));
  return [...[...listOf(tools), ...listOf(system)].map(fieldsOf).map(withoutMark), ...turns];
}

/**
 * Checks these rules: user and assistant turns alternate; a message begins with one result for each
 * earlier call; no text is blank, and no thinking lacks its signature.
 */
function acceptsHistory(body: unknown): string | null {
  const messages = listOf(fieldsOf(body)["messages"]).map(fieldsOf);
  const marks = JSON.stringify(body).split('"cache_control"').length - 1;
  if (marks > 4) return `${marks} cache marks`;
  const usedIds = new Set<unknown>();
  let idsWithoutResult = new Set<unknown>();
  for (const [n, { role, content }] of messages.entries()) {
    const path = `messages[${n}]`;
    if (role !== (n % 2 === 0 ? "user" : "assistant")) return `${path}: wrong role`;
    const blocks = listOf(content).map(fieldsOf);
    const results = blocks.flatMap((block) =>
      block["type"] === "tool_result" ? [block["tool_use_id"]] : [],
    );
    const resultsFirst = blocks
      .slice(0, results.length)
      .every((block) => block["type"] === "tool_result");
    if (
      !resultsFirst ||
      results.length !== idsWithoutResult.size ||
      results.some((id) => !idsWithoutResult.delete(id))
    )
      return `${path}: wrong results`;
    const problem =
      blocks.length === 0
        ? "no content"
        : blocks.map((block) => blockProblem(block, usedIds)).find(Boolean);
    if (problem) return `${path}: ${problem}`;
    idsWithoutResult = new Set(
      blocks.flatMap((block) => (block["type"] === "tool_use" ? [block["id"]] : [])),
    );
  }
  return messages.length % 2 === 1 ? null : "the last message is not a user message";
}

function blockProblem(
  block: Readonly<Record<string, unknown>>,
  usedIds: Set<unknown>,
): string | null {
  const { type, text, signature, id, name, input } = block;
  if (type === "text")
    return typeof text === "string" && text.trim() !== "" ? null : "a blank text";
  if (type === "thinking")
    return typeof signature === "string" && signature !== ""
      ? null
      : "thinking without a signature";
  if (type !== "tool_use") return null;
  if (typeof id !== "string" || !/^[a-zA-Z0-9_-]+$/.test(id) || usedIds.has(id))
    return `id ${id} is invalid or used`;
  usedIds.add(id);
  if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,128}$/.test(name))
    return `the name ${name} is invalid`;
  return isJsonObject(input) ? null : "arguments that are not a JSON object";
}
