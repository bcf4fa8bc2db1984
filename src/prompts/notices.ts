import type { RoundLimit } from "../protocol/events";

/**
 * The notice about a limit of the round that is near or reached. It has at most 512 bytes, because
 * the rules reserve 512 tokens for it (`LIMIT_NOTICE_TOKENS`).
 */
export function limitNotice(
  { calls_left, seconds_left }: RoundLimit,
  offers: readonly string[],
): string {
  if (calls_left === 0 || seconds_left === 0) {
    const used = calls_left === 0 ? "You have used all calls" : "You have used all the time";
    return `${used} of this round. Your own tools are no longer available. ${REACHED[kindOf(offers)]}`;
  }
  const remaining = [
    ...(calls_left === undefined ? [] : [withUnit(calls_left, "call")]),
    ...(seconds_left === undefined ? [] : [withUnit(seconds_left, "second")]),
  ].join(" and ");
  return `${remaining} left in this round: ${NEAR[kindOf(offers)]} After that your own tools are no longer available.`;
}

/** What the agent can still do: answer, answer or vote, vote, or write the final reply. */
type Kind = "answer" | "decide" | "vote" | "reply";

function kindOf(offers: readonly string[]): Kind {
  if (!offers.includes("new_answer")) return offers.includes("vote") ? "vote" : "reply";
  return offers.includes("vote") ? "decide" : "answer";
}

const NEAR: Record<Kind, string> = {
  answer: "answer now. Finish what you have begun and call `new_answer` with your complete answer.",
  decide: "decide now. Call `new_answer` with a better answer, or `vote` for the best one.",
  vote: "decide now. Call `vote` for the best answer.",
  reply: "finish now. Bring your files into their final state and write the final reply.",
};

const REACHED: Record<Kind, string> = {
  answer:
    "Call `new_answer` now, with the best answer you can give from what you have. Your files are handed over as they are.",
  decide:
    "Call `vote` for the best of the current answers now, or `new_answer` with a better one. If you call `new_answer`, your files are handed over as they are; with a vote this round's changes to them are dropped.",
  vote: "Call `vote` now, for the best of the current answers.",
  reply: "Write the final reply now, from what you have. Your files are handed over as they are.",
};

const withUnit = (count: number, unit: string): string =>
  `${count} ${unit}${count === 1 ? "" : "s"}`;

/** The cause of a reminder to decide. */
export type NudgeCause = "no_decision" | "refused" | "cut";

const NOTICES: Record<NudgeCause, string> = {
  no_decision:
    "Your reply ended without a decision. Text alone is not seen by anyone; only a tool call counts.",
  refused: "Your decision was refused for the reason given with its result.",
  cut: "Your reply was cut at its output limit before it held a complete decision. Be brief outside the tool call, and keep the answer itself within the limit.",
};

/** A reminder to decide, with the decisions that are possible now. */
export function nudgeMessage(cause: NudgeCause, offers: readonly string[]): string {
  return `${NOTICES[cause]} ${decisionRequest(offers)}`;
}

function decisionRequest(offers: readonly string[]): string {
  const canAnswer = offers.includes("new_answer");
  if (!offers.includes("vote"))
    return "Call `new_answer` now, with your complete answer in `content`.";
  if (!canAnswer) return "Call `vote` now, for the answer that serves the ORIGINAL MESSAGE best.";
  return "Decide now: call `vote` for the best of the current answers, or `new_answer` with a better one. One of the two, once.";
}

/** Results of coordination tools, and of calls that return no text. */
export const RESULTS = {
  voteRecorded: "Your vote was recorded.",
  answerRecorded: "Your answer was recorded.",
  superseded: "Not counted: your later vote in the same reply takes its place.",
  planned:
    "Recorded as a plan, not executed. Tools that act on the outside are executed only by the agent that presents the final answer. Go on as if planning: do not assume that it happened.",
  refused:
    "Not executed: the reply was cut at its end, asked for too many tools, or asked for tools that were not offered to it.",
  noSuchTool: "There is no such tool. Use only the tools you are offered.",
  outcomeUnknown:
    "The outcome is unknown: the call may or may not have done its work. Verify before you repeat it.",
  notExecuted: "Not executed.",
  empty: "Done. The tool returned no text.",
} as const;
