import { callItem, joined, type Mismatch } from "../../continuity";
import type { Dialect, WireReply, Json, Piece, ChargedReply } from "../../dialect";
import type { Failure, ReportedUsage } from "../../reply";
import { newPromptCache } from "../openai-prompt";
import { modelTurns, invalid, promptBlocks, read } from "./request";
import { ChunkSchema, UsageSchema } from "./schema";

/** The Chat Completions API of OpenAI and of compatible servers. */
export const OPENAI_CHAT: Dialect = {
  format: "openai-chat",
  basePath: "/v1",
  serves: (path) => path === "/v1/chat/completions",
  modelOf: ({ body }) => String(body["model"] ?? ""),
  read,
  promptBlocks,
  newPromptCache,
  modelTurns,
  mismatchFailure,
  failureBody,
  callIdPrefix: "call_",
  completeEvents,
  whole: withDetails,
};

/** The error type for a status, if the failure has none. */
const typeOf = (status: number): string =>
  status < 429 ? "invalid_request_error" : status === 429 ? "rate_limit_error" : "server_error";

/** The body of an error. Both formats of OpenAI use it. */
export function failureBody({ status, message, type, code }: Failure): Json {
  const text = message ?? `Simulated failure with status ${status}.`;
  return {
    error: { message: text, type: type ?? typeOf(status), param: null, code: code ?? null },
  };
}

function mismatchFailure({ turn, ...mismatch }: Mismatch): Failure {
  const what =
    "item" in mismatch
      ? `'${mismatch.item.id || "content"}' is ${mismatch.kind}`
      : "it was never given";
  return invalid(
    `The ${turn + 1}. assistant message is not the one that was sent: ${what}.`,
    "assistant_message_changed",
  );
}

function completeEvents(
  events: readonly Json[],
  { text = "", calls, usage }: ChargedReply,
): WireReply {
  const pieces = events.map((event) => toPiece(event, usage));
  return {
    pieces: [...pieces, { data: "[DONE]", tokens: 0, usage: false }],
    originalItems: joined([
      { kind: "text", id: "", content: text },
      ...calls.map((call) => callItem(call.id, call.name, call.arguments)),
    ]),
  };
}

function toPiece(event: Json, usage: ReportedUsage): Piece {
  const { choices, usage: reported } = ChunkSchema.parse(event);
  if (reported) return { data: JSON.stringify(withDetails(event, usage)), tokens: 0, usage: true };
  const delta = choices[0]?.delta;
  const output =
    delta?.content || delta?.reasoning_content || delta?.tool_calls?.[0]?.function?.arguments;
  return { data: JSON.stringify(event), tokens: output ? 1 : 0, usage: false };
}

/**
 * aimock omits the cached and reasoning parts of the usage; the real provider always includes them.
 */
function withDetails(
  message: Json,
  { cachedTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0 }: ReportedUsage,
): Json {
  const { usage } = UsageSchema.parse(message);
  const prompt_tokens_details = {
    cached_tokens: cachedTokens,
    ...(cacheWriteTokens > 0 && { cache_write_tokens: cacheWriteTokens }),
  };
  const completion_tokens_details = { reasoning_tokens: reasoningTokens };
  return { ...message, usage: { ...usage, prompt_tokens_details, completion_tokens_details } };
}
