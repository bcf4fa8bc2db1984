import type { Citation, HostedUse } from "../../src/protocol/hosted-tools";
import { hostById } from "../../src/providers/hosts";
import { isJsonObject, parseJson } from "../../src/providers/json";
import { createOpenAiResponses } from "../../src/providers/openai-responses";
import type { Reply, Wire } from "./wire";

/** The Responses API as servers implement it, without unused fields. */

type Fields = Readonly<Record<string, unknown>>;
/** A finished item, the same item as it is first sent (`added`), and the events in between. */
type Item = { item: Fields; added: Fields; deltas: Fields[] };

const frame = (event: Fields) => `event: ${event["type"]}\ndata: ${JSON.stringify(event)}\n\n`;

const ENDINGS: Readonly<Record<string, Fields>> = {
  length: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } },
  content_filter: { status: "incomplete", incomplete_details: { reason: "content_filter" } },
  unknown: { status: "incomplete", incomplete_details: { reason: "something_new" } },
};

function encode(reply: Reply): string[] {
  const { hosted = [], citations = [], calls = [], stop, usage } = reply;
  const items = [
    ...reasoningItems(reply.reasoning ?? []),
    ...hosted.map(hostedItem),
    ...messageItems(reply.text ?? [], citations, stop === "refusal"),
    ...calls.map((call, n) => callItem(call, n, (reply.reasoning ?? []).length > 0)),
  ];
  const ending = ENDINGS[stop] ?? { status: "completed" };
  const response = {
    ...ending,
    output: items.map(({ item }) => item),
    usage: usage ? encodeUsage(usage) : null,
  };
  const events: Fields[] = [
    { type: "response.created", response: { id: "resp_1", status: "in_progress", output: [] } },
    ...items.flatMap(({ item, added, deltas }, output_index) => [
      { type: "response.output_item.added", output_index, item: added },
      ...deltas.map((delta) => ({ output_index, ...delta })),
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: `response.${ending["status"]}`, response: { id: "resp_1", ...response } },
  ];
  return events.map((event, sequence_number) => frame({ ...event, sequence_number }));
}

function reasoningItems(pieces: readonly string[]): Item[] {
  if (pieces.length === 0) return [];
  const empty = { type: "reasoning", id: "rs_1", summary: [] };
  const item = {
    ...empty,
    summary: [{ type: "summary_text", text: pieces.join("") }],
    encrypted_content: "gAAAA",
  };
  const deltas = pieces.map((delta) => ({
    type: "response.reasoning_summary_text.delta",
    summary_index: 0,
    delta,
  }));
  return [
    {
      item,
      added: empty,
      deltas: [{ type: "response.reasoning_summary_part.added", summary_index: 0 }, ...deltas],
    },
  ];
}

function messageItems(
  pieces: readonly string[],
  citations: readonly Citation[],
  isRefusal: boolean,
): Item[] {
  if (pieces.length === 0 && !isRefusal) return [];
  const message = { type: "message", id: "msg_1", role: "assistant" };
  const annotations = citations.map(({ url, title }) => ({
    type: "url_citation",
    url,
    title,
    start_index: 0,
    end_index: 1,
  }));
  const content = isRefusal
    ? [{ type: "refusal", refusal: "I cannot help with that." }]
    : [{ type: "output_text", text: pieces.join(""), annotations }];
  const deltas = pieces.map((delta) => ({
    type: "response.output_text.delta",
    content_index: 0,
    delta,
  }));
  const refusal = {
    type: "response.refusal.delta",
    content_index: 0,
    delta: "I cannot help with that.",
  };
  return [
    {
      item: { ...message, content },
      added: { ...message, content: [] },
      deltas: isRefusal ? [refusal] : deltas,
    },
  ];
}

/**
 * The id of the item shows whether it belongs to a reasoning item. If so, it may be sent back only
 * together with the reasoning item.
 */
function callItem(
  { id, name, pieces }: NonNullable<Reply["calls"]>[number],
  n: number,
  hasReasoning: boolean,
): Item {
  const item = {
    type: "function_call",
    id: `fc_${n}${hasReasoning ? "_of_rs_1" : ""}`,
    call_id: id,
    name,
    arguments: pieces.join(""),
  };
  const deltas = pieces.map((delta) => ({ type: "response.function_call_arguments.delta", delta }));
  return { item, added: { ...item, arguments: "" }, deltas };
}

function hostedItem({ name, input, outcome, output }: HostedUse, n: number): Item {
  const status = outcome === "ok" ? "completed" : "failed";
  switch (name) {
    case "web_search": {
      const sources = output === "" ? [] : output.split("\n").map((url) => ({ type: "url", url }));
      const item = {
        type: "web_search_call",
        id: `ws_${n}`,
        status,
        action: { type: "search", query: input, sources },
      };
      return {
        item,
        added: { ...item, status: "in_progress", action: { type: "search", query: "" } },
        deltas: [],
      };
    }
    case "x_search": {
      const item = {
        type: "custom_tool_call",
        id: `ctc_${n}`,
        call_id: `xs_${n}`,
        name: "x_keyword_search",
        input,
        status,
      };
      const delta = { type: "response.custom_tool_call_input.delta", delta: input };
      return { item, added: { ...item, input: "", status: "in_progress" }, deltas: [delta] };
    }
    case "code_execution": {
      const outputs = [{ type: "logs", logs: output }];
      const item = {
        type: "code_interpreter_call",
        id: `ci_${n}`,
        status,
        code: input,
        container_id: "cntr_1",
        outputs,
      };
      const delta = { type: "response.code_interpreter_call_code.delta", delta: input };
      return {
        item,
        added: { ...item, code: "", outputs: null, status: "in_progress" },
        deltas: [delta],
      };
    }
  }
}

const encodeUsage = (usage: NonNullable<Reply["usage"]>): Fields => ({
  input_tokens: usage.input_tokens,
  input_tokens_details: {
    cached_tokens: usage.cached_tokens,
    cache_write_tokens: usage.cache_write_tokens,
  },
  output_tokens: usage.output_tokens,
  output_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
  total_tokens: usage.input_tokens + usage.output_tokens,
});

const error = (code: string | null, message: string, type = "invalid_request_error") => ({
  error: { message, type, param: null, code },
});

export const OPENAI_RESPONSES: Wire = {
  name: "Responses",
  basePath: "/v1",
  path: "/responses",
  create: (options) => createOpenAiResponses({ ...options, host: hostById("openai") }),
  keyHeader: { name: "authorization", value: (key) => `Bearer ${key}` },
  encode,
  completes: (text) => /^event: response\.(completed|incomplete)$/m.test(text),
  errors: [
    {
      name: "a wrong key",
      status: 401,
      body: error("invalid_api_key", "Incorrect API key provided"),
      failureClass: "bad_credentials",
    },
    {
      name: "an unknown model",
      status: 400,
      body: error("model_not_found", "The requested model 'gpt-9' does not exist."),
      failureClass: "unknown_model",
    },
    {
      name: "a context that is too long",
      status: 400,
      body: error(
        "context_length_exceeded",
        "Your input exceeds the context window of this model.",
      ),
      failureClass: "context_too_long",
    },
    {
      name: "a prompt that violates the policy",
      status: 400,
      body: error("content_policy_violation", "Your request was rejected by our safety system."),
      failureClass: "content_filter",
    },
    {
      name: "an exhausted quota",
      status: 429,
      body: error("insufficient_quota", "You exceeded your current quota", "insufficient_quota"),
      failureClass: "quota",
    },
    {
      name: "a bad request",
      status: 400,
      body: error(
        "unsupported_parameter",
        "Unsupported parameter: 'temperature' is not supported with this model.",
      ),
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
    frame: frame({
      type: "error",
      code: "server_error",
      message: "The server had an error",
      param: null,
    }),
    failureClass: "transient",
  },
  stops: ["stop", "length", "content_filter", "refusal", "unknown"],
  hostedTools: ["web_search", "code_execution"],
  reportsCacheWrites: true,
  acceptsHistory,
  prefixOf,
};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : {});

function prefixOf(body: unknown): readonly unknown[] {
  const { tools, instructions, input } = fieldsOf(body);
  return [...listOf(tools), instructions, ...listOf(input)];
}

/**
 * Checks the rules of the API: each call has one result, no item refers to an item that was not
 * stored, and reasoning precedes its call.
 */
function acceptsHistory(body: unknown): string | null {
  const { input, store } = fieldsOf(body);
  if (store !== false) return "the provider would store the reply";
  const items = listOf(input).map(fieldsOf);
  const problem = items
    .map((item, n) => itemProblem(item, items.slice(0, n), items[n + 1]))
    .find((text) => text !== null);
  if (problem) return problem;
  const results = items
    .filter(({ type }) => type === "function_call_output")
    .map((item) => item["call_id"]);
  const calls = items.filter(({ type }) => type === "function_call").map((item) => item["call_id"]);
  return JSON.stringify(calls) === JSON.stringify(results)
    ? null
    : `calls ${calls} have results ${results}`;
}

function itemProblem(
  item: Fields,
  earlierItems: readonly Fields[],
  next: Fields | undefined,
): string | null {
  switch (item["type"]) {
    case "message":
      return listOf(item["content"]).length === 0 ? "an empty message" : null;
    case "reasoning":
      if (typeof item["encrypted_content"] !== "string")
        return `Item with id '${item["id"]}' not found`;
      return next?.["type"] === "reasoning" || !next
        ? `Item '${item["id"]}' was provided without its required following item`
        : null;
    case "function_call":
      return callProblem(item, earlierItems);
    case "function_call_output":
      if (typeof item["output"] !== "string") return "a result without text";
      return earlierItems.some(
        (other) => other["type"] === "function_call" && other["call_id"] === item["call_id"],
      )
        ? null
        : `No tool call found for ${item["call_id"]}`;
    default:
      return String(item["type"]).endsWith("_call") ? null : `an item of type ${item["type"]}`;
  }
}

function callProblem(
  { id, call_id, name, arguments: text }: Fields,
  earlierItems: readonly Fields[],
): string | null {
  if (typeof call_id !== "string" || call_id === "") return "a call without an id";
  if (
    earlierItems.some((other) => other["type"] === "function_call" && other["call_id"] === call_id)
  )
    return `id ${call_id} is used twice`;
  if (typeof name !== "string" || name === "") return "a call without a name";
  const reasoningId = /_of_(\w+)$/.exec(String(id))?.[1];
  if (reasoningId && !earlierItems.some((other) => other["id"] === reasoningId))
    return `'${id}' was provided without its required reasoning '${reasoningId}'`;
  return typeof text === "string" && isJsonObject(parseJson(text))
    ? null
    : "arguments that are not a JSON object";
}
