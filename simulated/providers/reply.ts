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
  /** Hosted tools that run before the text; omitted if the request does not offer them. */
  hosted?: HostedStep[];
  /** Sources of the text, from hosted tools. */
  citations?: Source[];
  /** Tool calls after the text, in this order. `arguments` may be raw text that is not JSON. */
  calls?: ToolCall[];
  /** Omitted: as fast as the socket accepts. */
  pace?: Pace;
  /** An HTTP error instead of a reply. */
  fail?: Failure;
  /**
   * `headers`: nothing is sent. `body`: headers and the first `cutAfterChunks` tokens (default 0),
   * then silence.
   */
  hang?: "headers" | "body";
  /** The connection breaks after this many tokens. */
  cutAfterChunks?: number;
  /** An error inside the stream after this many tokens. */
  failsMidway?: { afterTokens: number; failure: Failure };
  /** Omitted: computed from the texts, about four characters per token. */
  usage?: ReportedUsage;
  /** Omitted: `tool_calls` if there are calls, else `stop`. */
  finishReason?: string;
};

/** `id` replaces the generated one, for providers that repeat ids. */
export type ToolCall = { name: string; arguments: Record<string, unknown> | string; id?: string };
export type HostedStep = { name: HostedToolName; input: string; output: string };
/** `text` is the passage that cites the source; omitted: the whole text. */
export type Source = { url: string; title: string; text?: string };
/**
 * Headers are sent with the first token. `tokensPerSecond` omitted: all tokens right after the
 * first.
 */
export type Pace = { ttftMs: number; tokensPerSecond?: number };
/** `retryAfter` is the header's value: seconds or a date. */
export type Failure = {
  status: number;
  code?: string;
  type?: string;
  message?: string;
  retryAfter?: number | string;
};
/** Cached and cache-written tokens are part of the input, reasoning is part of the output. */
export type ReportedUsage = {
  inputTokens: number;
  outputTokens: number;
  cachedTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokens?: number;
};

/** A model. Its reply is a function of the request, so it can serve many sessions concurrently. */
export type Script = (situation: Situation) => Reply | Promise<Reply>;

/** Characters per token here: each streamed chunk is one token. */
export const CHARACTERS_PER_TOKEN = 4;

/** Number of tokens of a text. */
export const tokensOf = (text: string): number => Math.ceil(text.length / CHARACTERS_PER_TOKEN);

/** The arguments of a call as sent. */
export const argumentsText = (call: ToolCall): string =>
  typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);

/** Tokens that a reply streams, and the default of its charge. */
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
  let left = maxTokens;
  const take = (text: string): string => {
    const taken = text.slice(0, left * CHARACTERS_PER_TOKEN);
    left -= tokensOf(taken);
    return taken;
  };
  const reasoning = take(reply.reasoning ?? "");
  const text = take(reply.text ?? "");
  const calls: ToolCall[] = [];
  for (const call of reply.calls ?? [])
    if (left > 0) calls.push({ name: call.name, arguments: take(argumentsText(call)) });
  return { ...reply, reasoning, text, calls, finishReason: "length" };
}
