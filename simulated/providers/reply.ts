import type { HostedToolName } from "../../src/protocol/hosted-tools";
import type { Asked } from "./asked";
import type { Situation } from "./situation";

/** What a simulated model does with one request. Everything is optional; `{}` is an empty reply at full speed. */
export type Reply = {
  text?: string;
  /** Streamed before the text, where the format lets the request ask for it and it did. */
  reasoning?: string;
  /** What the provider runs for the model before the text; left out where the request does not offer it. */
  hosted?: HostedStep[];
  /** Sources of the text, which come from hosted tools and go with them. */
  citations?: Source[];
  /** Tool calls, after the text, in this order. `arguments` may be raw text, for arguments that are no JSON. */
  calls?: ToolCall[];
  /** Absent: as fast as the socket takes it. */
  pace?: Pace;
  /** An HTTP error instead of a reply. */
  fail?: Failure;
  /** `headers`: nothing is ever sent. `body`: headers and the first `cutAfterChunks` tokens (default 0), then silence. */
  hang?: "headers" | "body";
  /** The connection breaks after this many tokens. */
  cutAfterChunks?: number;
  /** An error told in the stream, after this many tokens. */
  failsMidway?: { afterTokens: number; failure: Failure };
  /** Absent: counted from what was sent and written, about four characters per token. */
  usage?: ReportedUsage;
  /** Absent: `tool_calls` if there are calls, else `stop`. */
  finishReason?: string;
};

/** `id`: in place of one that is drawn, as the model of a provider that repeats itself would have it. */
export type ToolCall = { name: string; arguments: Record<string, unknown> | string; id?: string };
export type HostedStep = { name: HostedToolName; input: string; output: string };
/** `text`: the passage that rests on it; absent: all of the reply's text. */
export type Source = { url: string; title: string; text?: string };
/** Headers come with the first token. `tokensPerSecond` absent: all tokens right after the first. */
export type Pace = { ttftMs: number; tokensPerSecond?: number };
/** `retryAfter`: the value of the header: seconds or a date. */
export type Failure = {
  status: number;
  code?: string;
  type?: string;
  message?: string;
  retryAfter?: number | string;
};
/** Cached tokens and those written to the cache are part of the input, reasoning is part of the output. */
export type ReportedUsage = {
  inputTokens: number;
  outputTokens: number;
  cachedTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokens?: number;
};

/** A model: what it replies is a function of what it was sent, so it may be asked by many sessions at once, in any order. */
export type Script = (situation: Situation) => Reply | Promise<Reply>;

/** Characters of a token, here: each streamed chunk carries one token. */
export const CHARACTERS_PER_TOKEN = 4;

/** How many tokens a text of this length has. */
export const tokensOf = (text: string): number => Math.ceil(text.length / CHARACTERS_PER_TOKEN);

/** The arguments of a call as they go over the wire. */
export const argumentsText = (call: ToolCall): string =>
  typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);

/** How many tokens a reply streams, which is also what is charged for it unless it says otherwise. */
export function outputTokens(reply: Reply): number {
  const calls = (reply.calls ?? []).map((call) => tokensOf(argumentsText(call)));
  return [tokensOf(reply.reasoning ?? ""), tokensOf(reply.text ?? ""), ...calls].reduce(
    (sum, tokens) => sum + tokens,
    0,
  );
}

/** What a script would say, as far as its request lets it: no hosted tool that is not offered, no reasoning that is not to be shown. */
export function allowed(reply: Reply, { hostedTools, thinks }: Asked): Reply {
  const hosted = (reply.hosted ?? []).filter(({ name }) => hostedTools.includes(name));
  const { reasoning = "", citations = [], ...rest } = reply;
  return {
    ...rest,
    hosted,
    citations: hosted.length > 0 ? citations : [],
    ...(thinks && reasoning && { reasoning }),
  };
}

/** Ends a reply where the request's output cap ends it, as every real provider does: mid-word, with finish reason `length`. */
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
