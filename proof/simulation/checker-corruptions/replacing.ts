import type { DeltaItem } from "../../../src/protocol/events";
import type { NumberedEvent } from "../../../checker";
import { adds, all, changes, type Corruption, withAgentRules } from "./corruptions";
import type { Row } from "./row";

const START = 1_790_000_000_000;
const WINNING = "Follow the river to the pass, then north.";
const TOOLS = "cut-off-tools";

/** Replaces the presenter's text by the winning answer. */
const REPLACES_TEXT = all(
  changes("presentation.completed", {
    source: "answer",
    content: WINNING,
    fallback: "It wrote nothing.",
  }),
  changes("turn.completed", { answer: WINNING }),
);

/** Adds text that the presenter streamed. */
const addsStreamedText = (text: string, kind: DeltaItem["kind"] = "final"): Corruption =>
  adds(
    "call.started",
    ({ at, turn, agent, round, call }) => [
      { type: "stream.delta", at, turn, items: [{ agent, round, call, kind, offset: 0, text }] },
    ],
    7,
  );

/** Replaces the presenter's reply by a failure. */
const failsPresentation = (
  change: Partial<Extract<NumberedEvent, { type: "call.failed" }>>,
): Corruption => {
  return (log) =>
    log.map((event): NumberedEvent => {
      if (event.type !== "call.completed" || event.round !== 3) return event;
      const { at, turn, attempt, agent, round, call, usage, cost_usd, sequence_number } = event;
      const fields = {
        at,
        turn,
        attempt,
        agent,
        round,
        call,
        usage,
        cost_usd,
        sequence_number,
        tokens: 1_000,
      };
      return {
        type: "call.failed",
        ...fields,
        class: "quota",
        code: "",
        message: "",
        retry_at: null,
        ...change,
      };
    });
};

/** Replaces a reply by a withheld reply, whose round fails. */
const withholdsReply = (stop_reason: "refusal" | "content_filter" | "length"): Corruption => {
  return (log) =>
    changes("call.completed", { stop_reason })(log).map((event): NumberedEvent => {
      if (event.type !== "round.nudged" || event.sequence_number !== 9) return event;
      const { at, turn, attempt, agent, round, sequence_number } = event;
      return {
        type: "round.failed",
        at,
        turn,
        attempt,
        agent,
        round,
        sequence_number,
        code: stop_reason,
        message: "",
      };
    });
};

const PROGRESS = {
  type: "tool.progressed",
  origin: "https://far.example.com",
  progress: 1,
  total: null,
  message: null,
} as const;
/** A request for a tool call, as the tool server recorded it. */
const READ_REQUEST = {
  key: "k",
  turn: 1,
  attempt: 1,
  agent: "ada",
  round: 1,
  tool_call: "call_1_1_1_1_1_1_use",
  name: "read_file",
};

/** Corruptions of replaced final texts, and of other events that the checker once missed. */
export const REPLACING: readonly Row[] = [
  {
    name: "an answer that replaces a text that the presenter wrote",
    corruption: all(REPLACES_TEXT, addsStreamedText("Follow.")),
    invariant: "fallbacks",
  },
  {
    name: "an answer that replaces a text over the maximum length",
    corruption: all(REPLACES_TEXT, addsStreamedText("a".repeat(300_000))),
    invariant: "fallbacks",
  },
  {
    name: "an answer that replaces a text just before the end",
    corruption: all(
      REPLACES_TEXT,
      addsStreamedText("Follow."),
      changes("turn.started", { deadline_at: START + 3_504 }),
    ),
    invariant: "fallbacks",
  },
  {
    name: "an answer that replaces a call that is retried",
    corruption: all(
      REPLACES_TEXT,
      failsPresentation({ class: "transient", retry_at: START + 9_000 }),
    ),
    invariant: "fallbacks",
  },
  {
    name: "an answer that replaces a call that was cancelled",
    corruption: all(REPLACES_TEXT, failsPresentation({ class: "cancelled" })),
    invariant: "fallbacks",
  },
  {
    name: "an answer that replaces a reply with a tool call",
    corruption: all(
      REPLACES_TEXT,
      changes(
        "call.completed",
        { stop_reason: "tool_calls", tools: [{ tool_call: "t", name: "read_file" }] },
        7,
      ),
    ),
    invariant: "fallbacks",
  },
  {
    name: "a reply withheld by a refusal that costs its round",
    script: "refusals-and-nudges",
    corruption: withholdsReply("refusal"),
    invariant: "I12",
  },
  {
    name: "a reply withheld by a filter that costs its round",
    script: "refusals-and-nudges",
    corruption: withholdsReply("content_filter"),
    invariant: "I12",
  },
  {
    name: "a reply cut at its limit that costs its round",
    script: "refusals-and-nudges",
    corruption: withholdsReply("length"),
    invariant: "leaving",
  },
  {
    name: "a partial text that repeats another's answer",
    script: "improved-answer-with-injection",
    corruption: changes("answer.submitted", { origin: "partial", content: "Take the road." }, 4),
    invariant: "answers",
  },
  {
    name: "a deferred call of an unknown agent",
    script: "budget",
    corruption: changes("call.deferred", { agent: "dora" }),
    invariant: "I6",
  },
  {
    name: "a call deferred although its tokens fit, without a known price",
    script: "budget",
    corruption: all(
      withAgentRules({ price: null }),
      changes("turn.started", { budget: { max_tokens: 16_186 } }),
    ),
    invariant: "deferrals",
  },
  {
    name: "a call deferred under a cost cap, without a known price",
    script: "budget",
    corruption: all(
      withAgentRules({ price: null }),
      changes("turn.started", { budget: { max_cost_usd: 9 } }),
    ),
    invariant: "I11",
  },
  {
    name: "a safe tool call that reached its server twice",
    script: "single-agent",
    corruption: (log) => [...log],
    outside: { tools: [READ_REQUEST, READ_REQUEST] },
    invariant: "I8",
  },
  {
    name: "an unsafe tool call that reached its server twice",
    script: "single-agent",
    corruption: withAgentRules({ tools: [] }),
    outside: { tools: [READ_REQUEST, READ_REQUEST] },
    invariant: "I8",
  },
  {
    name: "a tool that starts after 1,200 effects of three agents",
    script: "improved-answer-with-injection",
    corruption: adds("call.started", (event) => Array.from({ length: 1_200 }, () => event), 4),
    invariant: "tools",
  },
  {
    name: "a presenter's tool that starts after a thousand effects",
    script: "single-agent",
    corruption: adds("call.started", (event) => Array.from({ length: 1_000 }, () => event)),
    invariant: "I12",
  },
];

/** Correct replacements of final texts, and correct notifications. */
export const CORRECT_REPLACEMENTS: readonly {
  name: string;
  script?: string;
  corruption: Corruption;
}[] = [
  { name: "an answer that replaces an empty text", corruption: REPLACES_TEXT },
  {
    name: "an answer that replaces blanks",
    corruption: all(REPLACES_TEXT, addsStreamedText(" \n")),
  },
  {
    name: "an answer that replaces reasoning",
    corruption: all(REPLACES_TEXT, addsStreamedText("Follow.", "reasoning")),
  },
  {
    name: "an answer that replaces a text that was cut",
    corruption: all(
      REPLACES_TEXT,
      addsStreamedText("Follow."),
      changes("call.completed", { stop_reason: "length" }, 7),
    ),
  },
  {
    name: "an answer that replaces a lost call",
    corruption: all(REPLACES_TEXT, failsPresentation({})),
  },
  {
    name: "an answer that replaces a text when the time is up",
    corruption: all(
      REPLACES_TEXT,
      addsStreamedText("Follow."),
      changes("turn.started", { deadline_at: START + 3_503 }),
    ),
  },
  {
    name: "reasoning of an agent that never answered",
    script: "nobody-answers",
    corruption: adds("call.started", ({ at, turn, agent, round, call }) => [
      {
        type: "stream.delta",
        at,
        turn,
        items: [{ agent, round, call, kind: "reasoning", offset: 0, text: "Hm." }],
      },
    ]),
  },
  {
    name: "two tools that report progress at the same time",
    script: TOOLS,
    corruption: adds(
      "tool.started",
      (event) => [
        { ...event, ...PROGRESS },
        {
          ...event,
          ...PROGRESS,
          agent: "bela",
          tool_call: "call_1_1_2_1_1_1_use",
          name: "run_command",
        },
      ],
      2,
    ),
  },
];
