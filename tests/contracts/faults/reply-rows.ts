import { newId } from "../../../simulated/providers/continuity";
import type { Reply } from "../../../simulated/providers/reply";
import { ALWAYS, type FaultRow } from "./fault-row";
import { whole } from "./stream-rows";

const callReply =
  (name: string, args: string, then: Partial<Reply> = {}) =>
  (): Reply => ({
    calls: [{ name, arguments: args }],
    ...then,
  });

/**
 * Formats with arguments as objects report invalid calls by a finish reason. In formats with
 * arguments as text, our own rules refuse such calls.
 */
const INVALID_ARGUMENTS = {
  codes: ["stream_cut"],
  unnoticed: ["openai-chat", "openai-responses", "anthropic"],
} satisfies Partial<FaultRow>;
const ARGUMENTS: readonly FaultRow[] = [
  {
    fault: "tool JSON: truncated",
    calls: 1,
    make: callReply("new_answer", '{"content":"Wat'),
    ...INVALID_ARGUMENTS,
    end: "goes on",
  },
  {
    fault: "tool JSON: empty",
    calls: 1,
    make: callReply("new_answer", ""),
    ...INVALID_ARGUMENTS,
    end: "goes on",
  },
  {
    fault: "tool JSON: null",
    calls: 1,
    make: callReply("new_answer", "null"),
    ...INVALID_ARGUMENTS,
    end: "goes on",
  },
  {
    fault: "tool JSON: an array",
    calls: 1,
    make: callReply("new_answer", '["Water"]'),
    ...INVALID_ARGUMENTS,
    end: "goes on",
  },
  {
    fault: "tool JSON: a key twice",
    calls: 1,
    make: callReply("new_answer", '{"content":"one","content":"At 100 °C."}'),
    answer: "At 100 °C.", // JSON parsers use the last value of a repeated key
    codes: [],
    end: "goes on",
  },
  {
    fault: "tool JSON: __proto__",
    calls: 1,
    make: callReply("new_answer", '{"__proto__":{"content":"x"},"constructor":{"prototype":{}}}'),
    codes: [],
    end: "goes on",
  },
  {
    fault: "tool JSON: a string of 1 MB",
    calls: 1,
    make: whole((text) => text.replaceAll("°", "x".repeat(1_000_000))),
    // Of the next call, because the simulated provider rejects a reply that it did not send
    codes: ["bad_request"],
    end: "goes on",
  },
  {
    fault: "tool JSON: unknown tool",
    calls: 1,
    make: callReply("launch_missiles", '{"at":"once"}'),
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
      const call = { name: "new_answer", arguments: { content: "one" }, id: newId("call_") };
      return { calls: [call, call] };
    },
    codes: [],
    end: "goes on",
  },
];

/** Codes of a filtered reply. One format uses the same stop reason for a filter and a refusal. */
const FILTERED = ["content_filter", "refusal"];
const STOPS: readonly FaultRow[] = [
  {
    fault: "stop: length, in the middle of its answer",
    calls: 1,
    make: callReply("new_answer", '{"content":"Water boi', { finishReason: "length" }),
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
    unnoticed: ["openai-responses", "gemini"], // these formats have no such finish reason
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

/**
 * Faulty replies of the model itself: invalid tool arguments, and stop reasons other than a normal
 * end.
 */
export const REPLY_ROWS: readonly FaultRow[] = [...ARGUMENTS, ...STOPS];
