import { newId } from "../../../simulated/providers/continuity";
import type { Format } from "../../../simulated/providers/dialect";
import type { Reply } from "../../../simulated/providers/reply";
import { MAX_LINE_BYTES } from "../../../src/providers/limits";
import { ANTHROPIC } from "../anthropic-wire";
import { GEMINI } from "../gemini-wire";
import { OPENAI_CHAT } from "../openai-chat-wire";
import { OPENAI_RESPONSES } from "../openai-responses-wire";
import type { Wire } from "../wire";
import type { WireFault } from "./fault-server";

/** Every fault of a provider that a run must live through, as data: what is sent instead, and what must come of it. */

/**
 * `goes on`: the agent takes part in the decision all the same. `fails`: it fails alone, and the others decide.
 */
export type End = "goes on" | "fails";

export type FaultRow = {
  fault: string;
  /** How many of the agent's calls it befalls, from the first on, or after so many. */
  calls: number;
  after?: number;
  /** The agent writes files before it answers, and what it has written by then is summed up. */
  works?: true;
  /** Of the bytes on the wire, or of what the model says. */
  make: (format: Format) => WireFault | Reply;
  /** Codes that failed calls and rounds may be logged with, and one does fail; none: none fails. */
  codes: readonly string[];
  /** Formats in which none needs to fail all the same. */
  unnoticed?: readonly Format[];
  end: End;
  /** What the faulty reply submits, because it is whole all the same; absent: nothing. */
  answer?: string;
  /** At most so many requests of the agent reach its provider. */
  requests?: number;
};

export const KEY = "canary-sk-0123456789-wire-faults";
export const WIRES: Readonly<Record<Format, Wire>> = {
  "openai-chat": OPENAI_CHAT,
  "openai-responses": OPENAI_RESPONSES,
  anthropic: ANTHROPIC,
  gemini: GEMINI,
};

export const isReply = (made: WireFault | Reply): made is Reply => !("kind" in made);

const ALWAYS = Number.POSITIVE_INFINITY;
/** Three rounds of five tries: what a provider that is never well costs. */
const MOST_REQUESTS = 15;

const failing =
  (status: number, headers: Readonly<Record<string, string>> = {}) =>
  (): WireFault => ({
    kind: "answer",
    status,
    headers,
    body: JSON.stringify({ error: { message: `The provider is not well (${status}).` } }),
  });

/** In the words of the format. */
const refusing =
  (failureClass: string, status?: number) =>
  (format: Format): WireFault => {
    const known = WIRES[format].errors.find(
      (one) => one.failureClass === failureClass && one.status < 413,
    );
    if (!known) throw new Error(`${format} has no words for ${failureClass}`);
    const body = JSON.stringify(known.body).replace('"message":"', `"message":"The key ${KEY}: `);
    return { kind: "answer", status: status ?? known.status, body };
  };

const streaming =
  (
    change: (whole: Buffer) => readonly Buffer[],
    ending: "end" | "reset" | "silence" = "end",
    type = "text/event-stream",
  ) =>
  (): WireFault => ({ kind: "stream", change, ending, headers: { "content-type": type } });

const whole = (change: (text: string) => string) =>
  streaming((bytes) => [Buffer.from(change(bytes.toString()))]);
const bytewise = (bytes: Buffer): Buffer[] => Array.from(bytes, (byte) => Buffer.of(byte));
const calling =
  (name: string, args: string, then: Partial<Reply> = {}) =>
  (): Reply => ({
    calls: [{ name, arguments: args }],
    ...then,
  });

const inASecond = (): WireFault => ({
  kind: "answer",
  status: 429,
  headers: { "retry-after": new Date(Date.now() + 1_000).toUTCString() },
  body: "{}",
});

const RATE_LIMITS: readonly FaultRow[] = [
  {
    fault: "429 without a wait",
    calls: 1,
    make: failing(429),
    codes: ["rate_limited"],
    end: "goes on",
  },
  {
    fault: "429, retry-after: 1",
    calls: 1,
    make: failing(429, { "retry-after": "1" }),
    codes: ["rate_limited"],
    end: "goes on",
  },
  {
    fault: "429, retry-after-ms: 300",
    calls: 1,
    make: failing(429, { "retry-after-ms": "300" }),
    codes: ["rate_limited"],
    end: "goes on",
  },
  {
    fault: "429, retry-after with a date",
    calls: 1,
    make: inASecond,
    codes: ["rate_limited"],
    end: "goes on",
  },
  {
    fault: "429, retry-after: 1000000000",
    calls: 1,
    make: failing(429, { "retry-after": "1000000000" }),
    codes: ["rate_limited"],
    end: "goes on",
  },
  {
    fault: "429, retry-after: 1000000000, always",
    calls: ALWAYS,
    make: failing(429, { "retry-after": "1000000000" }),
    codes: ["rate_limited"],
    end: "fails",
    requests: 3,
  },
  {
    fault: "429 always",
    calls: ALWAYS,
    make: failing(429),
    codes: ["rate_limited"],
    end: "fails",
    requests: MOST_REQUESTS,
  },
];

const SERVER_ERRORS: readonly FaultRow[] = [500, 502, 503, 524, 529].flatMap((status) => [
  {
    fault: `${status} once`,
    calls: 1,
    make: failing(status),
    codes: ["server_error", "overloaded", "timeout"],
    end: "goes on" as const,
  },
  {
    fault: `${status} always`,
    calls: ALWAYS,
    make: failing(status),
    codes: ["server_error", "overloaded", "timeout"],
    end: "fails" as const,
    requests: MOST_REQUESTS,
  },
]);

const REFUSALS: readonly FaultRow[] = [
  {
    fault: "400 context too long once",
    calls: 1,
    make: refusing("context_too_long"),
    codes: ["context_too_long"],
    end: "goes on",
  },
  {
    fault: "400 context too long, with work behind it",
    calls: 1,
    after: 4,
    works: true,
    make: refusing("context_too_long"),
    codes: ["context_too_long"],
    end: "goes on",
  },
  {
    fault: "400 context too long always",
    calls: ALWAYS,
    make: refusing("context_too_long"),
    codes: ["context_too_long"],
    end: "fails",
    requests: 3,
  },
  {
    fault: "401",
    calls: ALWAYS,
    make: refusing("bad_credentials", 401),
    codes: ["bad_credentials"],
    end: "fails",
    requests: 1,
  },
  {
    fault: "403",
    calls: ALWAYS,
    make: refusing("bad_credentials", 403),
    codes: ["bad_credentials"],
    end: "fails",
    requests: 1,
  },
];

const SILENCE: readonly FaultRow[] = [
  {
    fault: "no headers, until its first round's time is up",
    calls: ALWAYS,
    make: () => ({ kind: "mute" }),
    codes: ["initial_round_timeout"],
    end: "fails",
  },
  {
    fault: "headers only, until its first round's time is up",
    calls: ALWAYS,
    make: streaming(() => [], "silence"),
    codes: ["initial_round_timeout"],
    end: "fails",
  },
];

const cutAt = (share: number, ending: "end" | "reset"): FaultRow => ({
  fault: `${ending === "end" ? "ended" : "connection lost"} after ${share} % of the bytes`,
  calls: 1,
  make: streaming((bytes) => [bytes.subarray(0, Math.floor((bytes.length * share) / 100))], ending),
  codes: ["stream_cut", "connection_lost", "connection_failed", "empty_reply", "bad_response"],
  end: "goes on",
});
const CUTS: readonly FaultRow[] = [0, 10, 30, 50, 70].flatMap((share) => [
  cutAt(share, "end"),
  cutAt(share, "reset"),
]);

const BAD_STREAM = ["bad_response", "stream_cut", "empty_reply"];
const STREAMS: readonly FaultRow[] = [
  {
    fault: "SSE: CR only",
    calls: 1,
    make: whole((text) => text.replace(/\r?\n/g, "\r")),
    codes: [],
    end: "goes on",
  },
  {
    fault: "SSE: CRLF",
    calls: 1,
    make: whole((text) => text.replace(/\r?\n/g, "\r\n")),
    codes: [],
    end: "goes on",
  },
  {
    fault: "SSE: byte order mark",
    calls: 1,
    make: whole((text) => `\uFEFF${text}`),
    codes: [],
    end: "goes on",
  },
  {
    fault: "SSE: characters split, a byte at a time",
    calls: 1,
    make: streaming(bytewise),
    codes: [],
    end: "goes on",
  },
  {
    fault: "SSE: in pieces of 7 bytes",
    calls: 1,
    make: streaming((bytes) => piecesOf(bytes, 7)),
    codes: [],
    end: "goes on",
  },
  {
    fault: "SSE: no blank line at the end",
    calls: 1,
    make: whole((text) => text.trimEnd()),
    codes: [],
    end: "goes on",
  },
  {
    fault: "SSE: comments only",
    calls: 1,
    make: whole(() => ": hello\n\n: bye\n\n"),
    codes: BAD_STREAM,
    end: "goes on",
  },
  {
    fault: "SSE: a line of 5 MB",
    calls: 1,
    make: whole(() => `data: ${"x".repeat(MAX_LINE_BYTES + 1_000_000)}\n\n`),
    codes: BAD_STREAM,
    end: "goes on",
  },
  {
    fault: "SSE: data that is no JSON",
    calls: 1,
    make: whole((text) => `event: message_start\ndata: oops\n\n${text}`),
    codes: BAD_STREAM,
    end: "goes on",
  },
  {
    fault: "SSE: a web page with 200",
    calls: 1,
    make: streaming(
      () => [Buffer.from("<!DOCTYPE html><title>Sign in</title>")],
      "end",
      "text/html",
    ),
    codes: BAD_STREAM,
    end: "goes on",
  },
  {
    fault: "SSE: an empty 200",
    calls: 1,
    make: whole(() => ""),
    codes: BAD_STREAM,
    end: "goes on",
  },
  {
    fault: "SSE: an empty 200, always",
    calls: ALWAYS,
    make: whole(() => ""),
    codes: BAD_STREAM,
    end: "fails",
    requests: MOST_REQUESTS,
  },
];

/** A format whose calls are objects tells of broken ones by a finish reason; where they are text, what they say is refused. */
const MALFORMED = {
  codes: ["stream_cut"],
  unnoticed: ["openai-chat", "openai-responses", "anthropic"],
} satisfies Partial<FaultRow>;
const ARGUMENTS: readonly FaultRow[] = [
  {
    fault: "tool JSON: truncated",
    calls: 1,
    make: calling("new_answer", '{"content":"Wat'),
    ...MALFORMED,
    end: "goes on",
  },
  {
    fault: "tool JSON: empty",
    calls: 1,
    make: calling("new_answer", ""),
    ...MALFORMED,
    end: "goes on",
  },
  {
    fault: "tool JSON: null",
    calls: 1,
    make: calling("new_answer", "null"),
    ...MALFORMED,
    end: "goes on",
  },
  {
    fault: "tool JSON: an array",
    calls: 1,
    make: calling("new_answer", '["Water"]'),
    ...MALFORMED,
    end: "goes on",
  },
  {
    fault: "tool JSON: a key twice",
    calls: 1,
    make: calling("new_answer", '{"content":"one","content":"At 100 °C."}'),
    answer: "At 100 °C.", // as every reader of JSON takes it
    codes: [],
    end: "goes on",
  },
  {
    fault: "tool JSON: __proto__",
    calls: 1,
    make: calling("new_answer", '{"__proto__":{"content":"x"},"constructor":{"prototype":{}}}'),
    codes: [],
    end: "goes on",
  },
  {
    fault: "tool JSON: a string of 1 MB",
    calls: 1,
    make: whole((text) => text.replaceAll("°", "x".repeat(1_000_000))),
    codes: ["bad_request"], // of the next call: the simulated provider knows that it did not say this
    end: "goes on",
  },
  {
    fault: "tool JSON: unknown tool",
    calls: 1,
    make: calling("launch_missiles", '{"at":"once"}'),
    codes: [],
    end: "goes on",
  },
  {
    fault: "tool JSON: two calls",
    calls: 1,
    make: () => ({
      calls: ["one", "two"].map((content) => ({ name: "new_answer", arguments: { content } })),
    }),
    codes: [],
    end: "goes on",
  },
  {
    fault: "tool JSON: two calls with the same id",
    calls: 1,
    make: () => {
      const said = { name: "new_answer", arguments: { content: "one" }, id: newId("call_") };
      return { calls: [said, said] };
    },
    codes: [],
    end: "goes on",
  },
];

/** One format has the same word for both. */
const FILTERED = ["content_filter", "refusal"];
const STOPS: readonly FaultRow[] = [
  {
    fault: "stop: length, in the middle of its answer",
    calls: 1,
    make: calling("new_answer", '{"content":"Water boi', { finishReason: "length" }),
    codes: [],
    end: "goes on",
  },
  {
    fault: "stop: content filter",
    calls: 1,
    make: () => ({ text: "I", finishReason: "content_filter" }),
    codes: FILTERED,
    end: "goes on",
  },
  {
    fault: "stop: content filter, always",
    calls: ALWAYS,
    make: () => ({ text: "I", finishReason: "content_filter" }),
    codes: FILTERED,
    end: "fails",
  },
  {
    fault: "stop: refusal",
    calls: 1,
    make: () => ({ text: "I cannot.", finishReason: "refusal" }),
    codes: ["refusal"],
    unnoticed: ["openai-responses", "gemini"], // which have no such finish reason
    end: "goes on",
  },
  {
    fault: "stop: unknown",
    calls: 1,
    make: () => ({ text: "Well,", finishReason: "something_new" }),
    codes: [],
    end: "goes on",
  },
];

function piecesOf(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
    bytes.subarray(n * size, (n + 1) * size),
  );
}

export const FAULT_ROWS: readonly FaultRow[] = [
  ...RATE_LIMITS,
  ...SERVER_ERRORS,
  ...REFUSALS,
  ...SILENCE,
  ...CUTS,
  ...STREAMS,
  ...ARGUMENTS,
  ...STOPS,
];
