/** Why a reply is answered with a reminder. */
export type NudgeCause = "no_decision" | "refused" | "cut";

const NOTICES: Record<NudgeCause, string> = {
  no_decision:
    "Your reply ended without a decision. Text alone is not seen by anyone; only a tool call counts.",
  refused: "Your decision was refused for the reason given with its result.",
  cut: "Your reply was cut at its output limit before it held a complete decision. Be brief outside the tool call, and keep the answer itself within the limit.",
};

/** A reminder to decide, by the decisions that are possible now. */
export function nudgeMessage(cause: NudgeCause, offers: readonly string[]): string {
  return `${NOTICES[cause]} ${request(offers)}`;
}

function request(offers: readonly string[]): string {
  const canAnswer = offers.includes("new_answer");
  if (!offers.includes("vote"))
    return "Call `new_answer` now, with your complete answer in `content`.";
  if (!canAnswer) return "Call `vote` now, for the answer that serves the ORIGINAL MESSAGE best.";
  return "Decide now: call `vote` for the best of the current answers, or `new_answer` with a better one. One of the two, once.";
}
