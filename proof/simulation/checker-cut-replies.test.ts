import { describe, expect, it } from "vitest";
import type { StopReason } from "../../src/protocol/events";
import { check } from "../../checker";
import type { NumberedEvent } from "../../checker";
import { all, changes, hides, type Corruption } from "./checker-corruptions/corruptions";
import { play } from "./world/scripted-world";
import { SCRIPTS } from "./world/scripts";

/** The log of every script, by name. */
const LOGS = new Map(Object.entries(SCRIPTS).map(([name, script]) => [name, play(script).log]));

/**
 * A log in which a reply counts although it was cut or withheld. `wrong`: the reported sentence.
 */
type Row = { name: string; script: string; corruption: Corruption; wrong: string };

/** Changes the stop reason of the nth reply. */
const endsReplyWith = (stop_reason: StopReason, nth: number): Corruption =>
  changes("call.completed", { stop_reason }, nth);

const NUDGES = "refusals-and-nudges";

const ROWS: Row[] = [
  {
    name: "an answer of a reply that was cut",
    script: "tie",
    corruption: endsReplyWith("length", 1),
    wrong: "an answer counted although the reply ended with length",
  },
  {
    name: "an answer of a reply that was withheld",
    script: "tie",
    corruption: endsReplyWith("content_filter", 2),
    wrong: "an answer counted although the reply ended with content_filter",
  },
  {
    name: "an answer of a call that failed",
    script: "agent-failing",
    corruption: hides("call.completed", 2),
    wrong: "an answer counted although the call failed",
  },
  {
    name: "an answer without a call",
    script: "tie",
    corruption: hides("call.completed", 1),
    wrong: "an answer counted before any reply",
  },
  {
    name: "a vote of a reply that was cut",
    script: "tie",
    corruption: endsReplyWith("length", 3),
    wrong: "a vote counted although the reply ended with length",
  },
  {
    name: "a vote of a reply that ended with a refusal",
    script: "tie",
    corruption: endsReplyWith("refusal", 3),
    wrong: "a vote counted although the reply ended with refusal",
  },
  {
    name: "a stale vote of a reply that was cut",
    script: "stale-vote",
    corruption: endsReplyWith("length", 5),
    wrong: "a stale vote counted although the reply ended with length",
  },
  {
    name: "a tool that runs for a reply that was cut",
    script: "single-agent",
    corruption: endsReplyWith("length", 1),
    wrong: "read_file was started although the reply ended with length",
  },
  {
    name: "a tool that a presenter runs for a reply with an unknown stop reason",
    script: "single-agent",
    corruption: endsReplyWith("unknown", 1),
    wrong: "read_file was started although the reply ended with unknown",
  },
  {
    name: "a tool of a reply that was cut, logged as failed",
    script: "single-agent",
    corruption: all(
      endsReplyWith("length", 1),
      hides("tool.started"),
      changes("tool.completed", { outcome: "error" }),
    ),
    wrong: "read_file was error, and not refused, although the reply ended with length",
  },
  {
    name: "a decision of a reply that was cut, refused as if it were complete",
    script: NUDGES,
    corruption: endsReplyWith("length", 3),
    wrong: "refused with empty_answer although the reply ended with length",
  },
  {
    name: "a decision of a complete reply, refused as cut",
    script: NUDGES,
    corruption: changes("answer.refused", { code: "reply_cut" }),
    wrong: "refused with reply_cut although the reply ended with tool_calls",
  },
  {
    name: "a reply that was withheld although its round continues",
    script: NUDGES,
    corruption: endsReplyWith("refusal", 2),
    wrong: "a reply ended with refusal, but its round continues",
  },
  {
    name: "personas of a reply that was cut",
    script: "personas",
    corruption: endsReplyWith("length", 1),
    wrong: "personas counted although the reply ended with length",
  },
  {
    name: "a restart requested by a reply with an unknown stop reason",
    script: "restart-attempt",
    corruption: endsReplyWith("unknown", 6),
    wrong: "a verdict counted although the reply ended with unknown",
  },
];

const violationsOf = (log: readonly NumberedEvent[]): string[] =>
  check(log, { finished: true }).flatMap(({ invariant, sentence }) =>
    invariant === "cut" ? [sentence] : [],
  );

const logOf = (script: string): NumberedEvent[] => {
  const log = LOGS.get(script);
  if (!log) throw new Error(`no script ${script}`);
  return log;
};

it.each(ROWS)("the checker notices $name", ({ script, corruption, wrong }) => {
  expect(violationsOf(corruption(logOf(script)))).toContain(wrong);
});

describe("if any reply of any script is logged as cut or withheld", () => {
  const CUT: readonly StopReason[] = ["length", "content_filter", "refusal"];

  /**
   * Replies that neither decided nor called a tool, so that nothing of them counted: the reply
   * before a nudge, research, summaries, and a last call without a decision.
   */
  const NOTHING_COUNTED = [
    ...["research-calls 1 length", "research-calls 4 length", "refusals-and-nudges 1 length"],
    ...["call-cap 54 length", "round-limits 10 length"],
    ...["summed-up 3 length", "summed-up 3 content_filter", "summed-up 3 refusal"],
  ];

  it("the checker notices the reply, unless nothing of the reply counted", () => {
    const unnoticed = [...LOGS].flatMap(([script, log]) => {
      const replies = log.filter(({ type }) => type === "call.completed").length;
      return Array.from({ length: replies }, (_, nth) =>
        CUT.filter(
          (reason) => check(endsReplyWith(reason, nth + 1)(log), { finished: true }).length === 0,
        ).map((reason) => `${script} ${nth + 1} ${reason}`),
      ).flat();
    });
    expect(unnoticed).toEqual(NOTHING_COUNTED);
  });
});
