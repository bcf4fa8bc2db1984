import type { StartRefusal } from "../session-api";

/**
 * Why a queued turn failed at its start, for people: what happened and what to do. The limits for
 * which a queued turn waits have no text of their own.
 */
export function refusalText(refusal: StartRefusal): string {
  switch (refusal.code) {
    case "context_missing":
      return `Contexts of the turn are not uploaded: ${refusal.names.join(", ")}. Push them, then ask again.`;
    case "context_too_large":
      return `The contexts of the turn have ${refusal.files} files; the limit of a turn is ${refusal.most}. Upload fewer files, then ask again.`;
    case "context_conflicts": {
      const { conflicts, more } = refusal;
      const [first] = conflicts;
      const others = conflicts.length - 1 + more;
      const where = first ? ` (${first.path}${others > 0 ? ` and ${others} more` : ""})` : "";
      return `The turn that this one follows and a newer version of a context changed the same files${where}. Ask again and name the side that wins.`;
    }
    case "attachment_refused": {
      const [first] = refusal.refused;
      const what = first ? `"${first.name}" (agent "${first.agent}")` : "an attachment";
      return `A model of the team does not support ${what}. Ask again without it, or with other models.`;
    }
    case "attachment_not_found":
      return "An attachment of the question no longer exists. Attach it, then ask again.";
    case "attachments_too_large":
      return "The attachments of the question exceed a limit. Ask again with fewer.";
    case "price_unknown":
      return `The price of ${refusal.agents.join(", ")} is not known, so a cost limit is not possible. Ask again without it, or with other models.`;
    case "budget_too_small":
      return `The budget of the turn is below the cost of a first call. Ask again with budget.${refusal.capped} of at least ${refusal.enough}.`;
    case "question_too_long":
      return `The question has about ${refusal.tokens} tokens; the largest window of the team has ${refusal.window}. Ask again with a shorter question, or attach less.`;
    case "storage_exceeded":
      return "The storage of the tenant is full. Erase sessions or contexts, then ask again.";
    case "overrides_invalid":
      return `The overrides of the turn do not fit its team: ${refusal.problems[0]?.detail ?? ""} Ask again with others.`;
    case "turn_not_found":
      return "The turn that this one follows does not exist.";
    default:
      return `The turn was refused: ${refusal.code}.`;
  }
}
