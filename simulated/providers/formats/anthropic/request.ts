import type { HostedToolName } from "../../../../src/protocol/hosted-tools";
import { attachedIn } from "../../attached";
import type { ModelInput, ModelMessage } from "../../model-input";
import { callItem, type Item, joined } from "../../continuity";
import { type Json, RequestRefusal, type WireRequest } from "../../dialect";
import { onlyKnown, resultProblem, words } from "../../refusals";
import type { Failure } from "../../reply";
import { marksIn, MOST_MARKS } from "./prompt";
import { textOf } from "../../schema";
import {
  type Block,
  type Message,
  type MessagesRequest,
  MessagesRequestSchema,
  ResultContentSchema,
} from "./schema";

/** Fields of a request that the API documents. */
const KNOWN = words(`
  cache_control container inference_geo max_tokens messages metadata model output_config service_tier speed stop_sequences stream
  system temperature thinking tool_choice tools top_k top_p`);

const HOSTED: Readonly<Record<string, HostedToolName>> = {
  web_search: "web_search",
  code_execution: "code_execution",
};

export const invalid = (message: string): Failure => ({
  status: 400,
  type: "invalid_request_error",
  message,
});

export function read({ body, headers }: WireRequest): ModelInput {
  if (!headers["x-api-key"] && !headers["authorization"])
    throw new RequestRefusal({ status: 401, message: "x-api-key header is required" });
  if (!headers["anthropic-version"])
    throw new RequestRefusal(invalid("anthropic-version: header is required"));
  onlyKnown(body, [KNOWN], (field) => invalid(`${field}: Extra inputs are not permitted`));
  const parsed = MessagesRequestSchema.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new RequestRefusal(invalid(`${issue?.path.join(".")}: ${issue?.message}`));
  }
  const { model, max_tokens, messages, system, tools = [], tool_choice, stream } = parsed.data;
  if (stream !== true)
    throw new RequestRefusal(invalid("This simulated provider only streams: send `stream: true`."));
  checkMarks(body);
  checkThinking(parsed.data);
  checkTurns(messages);
  return {
    model,
    system: textOf(system),
    messages: messages.flatMap(toMessages),
    attached: attachedIn("anthropic", body),
    tools: tools.flatMap(({ name, input_schema }) =>
      input_schema === undefined ? [] : [{ name, parameters: input_schema }],
    ),
    hostedTools: tools.flatMap(({ name, input_schema }) =>
      input_schema === undefined ? (HOSTED[name] ?? []) : [],
    ),
    forced: tool_choice !== undefined && tool_choice.type !== "auto" && tool_choice.type !== "none",
    outputCap: max_tokens,
    thinks: isThinking(parsed.data),
  };
}

const isThinking = ({ thinking }: MessagesRequest): boolean =>
  thinking !== undefined && thinking.type !== "disabled";

function checkMarks(body: Json): void {
  const marks = marksIn(body);
  if (marks > MOST_MARKS)
    throw new RequestRefusal(
      invalid(
        `A maximum of ${MOST_MARKS} blocks with cache_control may be provided. Found ${marks}.`,
      ),
    );
}

function checkThinking(request: MessagesRequest): void {
  const { thinking, max_tokens, tool_choice } = request;
  if (!isThinking(request)) return;
  if (tool_choice?.type === "any" || tool_choice?.type === "tool")
    throw new RequestRefusal(
      invalid("Thinking may not be enabled when tool_choice forces tool use."),
    );
  if ((thinking?.budget_tokens ?? 0) >= max_tokens)
    throw new RequestRefusal(
      invalid("`max_tokens` must be greater than `thinking.budget_tokens`."),
    );
}

/**
 * The roles must alternate. The message after a message with calls must contain one result for each
 * call, before any other content.
 */
function checkTurns(messages: readonly Message[]): void {
  if (messages[0]?.role !== "user")
    throw new RequestRefusal(invalid('messages: first message must use the "user" role'));
  if (messages.at(-1)?.role !== "user")
    throw new RequestRefusal(
      invalid(
        "This model does not support assistant message prefill. The conversation must end with a user message.",
      ),
    );
  for (const [at, message] of messages.entries()) {
    const before = messages[at - 1];
    if (before?.role === message.role)
      throw new RequestRefusal(
        invalid(
          `messages: roles must alternate between "user" and "assistant", but found multiple "${message.role}" roles in a row`,
        ),
      );
    checkBlocks(message, at);
    if (message.role === "user")
      checkResults(before ? blocksOf(before) : [], blocksOf(message), at);
  }
}

function checkBlocks(message: Message, at: number): void {
  const blocks = blocksOf(message);
  if (blocks.length === 0)
    throw new RequestRefusal(invalid(`messages.${at}: all messages must have non-empty content`));
  if (blocks.some(({ type, text }) => type === "text" && !text))
    throw new RequestRefusal(invalid("messages: text content blocks must be non-empty"));
}

function checkResults(before: readonly Block[], blocks: readonly Block[], at: number): void {
  const results = blocks.flatMap(({ type, tool_use_id = "" }) =>
    type === "tool_result" ? [tool_use_id] : [],
  );
  const problem = resultProblem(
    before.flatMap(({ type, id = "" }) => (type === "tool_use" ? [id] : [])),
    results,
  );
  if (blocks.findLastIndex(({ type }) => type === "tool_result") >= results.length)
    throw new RequestRefusal(
      invalid(`messages.${at}: tool_result blocks must come first in the content`),
    );
  switch (problem?.kind) {
    case "missing":
      throw new RequestRefusal(
        invalid(
          `messages.${at - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${problem.id}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
        ),
      );
    case "unrequested":
      throw new RequestRefusal(
        invalid(
          `messages.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${problem.id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
        ),
      );
    case "duplicate":
      throw new RequestRefusal(
        invalid(
          `messages.${at}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${problem.id}`,
        ),
      );
    case undefined:
      return;
  }
}

const blocksOf = ({ content }: Message): Block[] =>
  typeof content === "string" ? (content === "" ? [] : [{ type: "text", text: content }]) : content;

/** The tool results of a user message become messages before its text. */
function toMessages(message: Message): ModelMessage[] {
  const blocks = blocksOf(message);
  const text = blocks.map((block) => block.text ?? "").join("");
  if (message.role === "assistant") {
    const calls = blocks
      .filter(({ type }) => type === "tool_use")
      .map(({ name = "", input }) => name + JSON.stringify(input));
    return [{ role: "assistant", text: text + calls.join("") }];
  }
  const results = blocks.filter(({ type }) => type === "tool_result");
  return [
    ...results.map(({ tool_use_id = "", content }): ModelMessage => {
      const parsed = ResultContentSchema.safeParse(content);
      return { role: "tool", callId: tool_use_id, text: parsed.success ? textOf(parsed.data) : "" };
    }),
    ...(text === "" && results.length > 0 ? [] : [{ role: "user" as const, text }]),
  ];
}

export function modelTurns(body: Json): Item[][] {
  const request = MessagesRequestSchema.safeParse(body);
  if (!request.success) return [];
  const turns = request.data.messages.filter(({ role }) => role === "assistant");
  return turns.map((turn) => joined(blocksOf(turn).flatMap((block) => toItem(block) ?? [])));
}

/** The part of a model's block that must be sent back unchanged. */
export function toItem({
  type,
  id = "",
  name = "",
  input,
  text = "",
  tool_use_id = "",
  ...block
}: Block): Item | null {
  switch (type) {
    case "text":
      return { kind: "text", id: "", content: text };
    case "thinking":
      return { kind: "reasoning", id: block.signature ?? "", content: block.thinking ?? "" };
    case "redacted_thinking":
      return { kind: "reasoning", id: block.data ?? "", content: "" };
    case "tool_use":
      return callItem(id, name, JSON.stringify(input ?? {}));
    case "server_tool_use":
      return { kind: "hosted", id, content: JSON.stringify(input ?? {}) };
    default:
      return tool_use_id === ""
        ? null
        : { kind: "hosted", id: `${tool_use_id} result`, content: JSON.stringify(block.content) };
  }
}
