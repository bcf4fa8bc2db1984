import type { Decision } from "../../protocol/events";
import { byteLength } from "../byte-length";
import type { Draft } from "../draft";
import { injectAnswers } from "./injection";
import { LIMITS } from "../limits";
import { agentAt, answerAt, candidates, newestRevision } from "../state";

/** The rules of `vote`. */

type Vote = Extract<Decision, { name: "vote" }>;

/** `stale` neither ends the round nor counts as a nudge: the agent is shown the missing answers. */
export function proposeVote(
  draft: Draft,
  index: number,
  proposed: Vote,
): "accepted" | "refused" | "stale" {
  const { attempt } = draft;
  const refusal = refusalOf(draft, index, proposed);
  if (refusal) {
    draft.add({
      type: "vote.refused",
      ...draft.roundFields(index),
      tool_call: proposed.tool_call,
      ...refusal,
    });
    return "refused";
  }
  const { label, revision } = answerAt(
    attempt,
    agentAt(attempt, draft.turn.aliases.indexOf(proposed.alias)).newest,
  );
  const { seen } = agentAt(attempt, index);
  if (seen < newestRevision(attempt)) {
    const missing = candidates(attempt).filter((answer) => answer.revision > seen);
    draft.add({
      type: "vote.stale",
      ...draft.roundFields(index),
      tool_call: proposed.tool_call,
      label,
      missing: missing.map((answer) => answer.label),
    });
    injectAnswers(draft, index, "message");
    return "stale";
  }
  draft.add({
    type: "vote.cast",
    ...draft.roundFields(index),
    tool_call: proposed.tool_call,
    label,
    revision,
    reason: proposed.reason,
  });
  return "accepted";
}

function refusalOf(
  draft: Draft,
  index: number,
  { alias, reason }: Vote,
): { code: string; message: string } | null {
  const { attempt, turn } = draft;
  const voter = agentAt(attempt, index);
  if (voter.answers === 0) {
    return {
      code: "answer_first",
      message: "Give your own answer with `new_answer` before you vote.",
    };
  }
  const target = turn.aliases.indexOf(alias);
  const shown = new Set(
    voter.shown.map((revision) => turn.aliases[answerAt(attempt, revision).agent]),
  );
  const valid = `Vote for one of: ${[...shown].sort().join(", ")}.`;
  if (target < 0) return { code: "unknown_alias", message: `There is no such agent. ${valid}` };
  if (agentAt(attempt, target).newest === 0)
    return { code: "no_answer", message: `That agent has no answer yet. ${valid}` };
  if (byteLength(reason) > LIMITS.reasonBytes)
    return { code: "reason_too_long", message: "Give the reason in at most 4 KB." };
  return null;
}
