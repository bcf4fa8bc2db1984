import { newId } from "../../../simulated/providers/continuity";
import type { Reply } from "../../../simulated/providers/reply";
import { ALWAYS, type FaultRow } from "./fault-row";
import { whole } from "./stream-rows";

const calling =
  (name: string, args: string, then: Partial<Reply> = {}) =>
  (): Reply => ({
    calls: [{ name, arguments: args }],
    ...then,
  });

/**
 * Formats with object arguments report broken calls by a finish reason; formats with text arguments
 * let the rules refuse them.
 */
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
    answer: "At 100 °C.", // as every JSON reader treats it
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
    codes: ["bad_request"], // of the next call: the simulated provider rejects an invented reply
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

/** One format uses the same stop reason for both. */
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
    unnoticed: ["openai-responses", "gemini"], // these have no such finish reason
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
 * Bad replies of the model itself: broken tool arguments, and stop reasons other than a normal end.
 */
export const REPLY_ROWS: readonly FaultRow[] = [...ARGUMENTS, ...STOPS];
