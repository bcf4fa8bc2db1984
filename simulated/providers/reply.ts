import type { HostedToolName } from "../../src/protocol/hosted-tools";
import type { ModelInput } from "./model-input";
import type { Situation } from "./situation";

/**
 * The behaviour of a simulated model for one request. All fields are optional; `{}` is an empty
 * reply at full speed.
 */
export type Reply = {
  text?: string;
  /** Streamed before the text, if the format supports it and the request asks for it. */
  reasoning?: string;
  /** Runs of hosted tools before the text. A tool that the request does not offer is left out. */
  hosted?: HostedStep[];
  /** Sources of the text. Sent only if the reply has a run of a hosted tool. */
  citations?: Source[];
  /** Tool calls after the text, in this order. `arguments` may be raw text that is not JSON. */
  calls?: ToolCall[];
  /** Omitted: the reply is sent as fast as the socket accepts it. */
  pace?: Pace;
  /** An HTTP error instead of a reply. */
  fail?: Failure;
  /**
   * `headers`: nothing is sent. `body`: headers and the first `cutAfterChunks` tokens (default 0),
   * then silence.
   */
  hang?: "headers" | "body";
  /** The connection breaks after this many tokens. (Each chunk has one token.) */
  cutAfterChunks?: number;
  /** The stream contains an error after this many tokens and then ends. */
  failsMidway?: { afterTokens: number; failure: Failure };
  /** Omitted: computed from the texts, with four characters per token. */
  usage?: ReportedUsage;
  /** Omitted: `tool_calls` if there are calls, else `stop`. */
  finishReason?: string;
};

/** `id`, if set, is sent in place of a generated id. It simulates providers that repeat ids. */
export type ToolCall = { name: string; arguments: Record<string, unknown> | string; id?: string };
/** One run of a hosted tool. */
export type HostedStep = { name: HostedToolName; input: string; output: string };
/** `text`: the passage that cites the source. Omitted: the whole text of the reply. */
export type Source = { url: string; title: string; text?: string };
/**
 * The speed of a reply. `ttftMs`: time to first token; the headers are sent with that token.
 * Without `tokensPerSecond`, all other tokens follow at once.
 */
export type Pace = { ttftMs: number; tokensPerSecond?: number };
/** An error response. `retryAfter`: value of the header `Retry-After`, seconds or a date. */
export type Failure = {
  status: number;
  code?: string;
  type?: string;
  message?: string;
  retryAfter?: number | string;
};
/**
 * The usage that a reply reports. `inputTokens` includes `cachedTokens` and `cacheWriteTokens`.
 * `outputTokens` includes `reasoningTokens`.
 */
export type ReportedUsage = {
  inputTokens: number;
  outputTokens: number;
  cachedTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokens?: number;
};

/** A simulated model. The reply depends only on the request, so one script serves many sessions. */
export type Script = (situation: Situation) => Reply | Promise<Reply>;

/** Characters per token of a simulated model. Each streamed chunk is one token. */
export const CHARACTERS_PER_TOKEN = 4;

/** Number of tokens of a text. */
export const tokensOf = (text: string): number => Math.ceil(text.length / CHARACTERS_PER_TOKEN);

/** The arguments of a call as the text that is sent. */
export const argumentsText = (call: ToolCall): string =>
  typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);

/** Number of output tokens of a reply. It is also the reported usage if the reply sets none. */
export function outputTokens(reply: Reply): number {
  const calls = (reply.calls ?? []).map((call) => tokensOf(argumentsText(call)));
  return [tokensOf(reply.reasoning ?? ""), tokensOf(reply.text ?? ""), ...calls].reduce(
    (sum, tokens) => sum + tokens,
    0,
  );
}

/**
 * The part of a scripted reply that the request allows: no hosted tools that are not offered, no
 * reasoning that was not requested.
 */
export function allowed(reply: Reply, { hostedTools, thinks }: ModelInput): Reply {
  const hosted = (reply.hosted ?? []).filter(({ name }) => hostedTools.includes(name));
  const { reasoning = "", citations = [], ...rest } = reply;
  return {
    ...rest,
    hosted,
    citations: hosted.length > 0 ? citations : [],
    ...(thinks && reasoning && { reasoning }),
  };
}

/**
 * Cuts a reply at the request's output cap, as real providers do: inside a word, with finish reason
 * `length`.
 */
export function capped(reply: Reply, maxTokens: number | null): Reply {
  if (maxTokens === null || outputTokens(reply) <= maxTokens) return reply;
  let tokensLeft = maxTokens;
  const take = (text: string): string => {
    const taken = text.slice(0, tokensLeft * CHARACTERS_PER_TOKEN);
    tokensLeft -= tokensOf(taken);
    return taken;
  };
  const reasoning = take(reply.reasoning ?? "");
  const text = take(reply.text ?? "");
  const calls: ToolCall[] = [];
  for (const call of reply.calls ?? [])
    if (tokensLeft > 0) calls.push({ name: call.name, arguments: take(argumentsText(call)) });
  return { ...reply, reasoning, text, calls, finishReason: "length" };
}
