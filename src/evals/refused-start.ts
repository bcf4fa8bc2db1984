import { formatUsd } from "../protocol/cost";

/** Why the session of a case was not started, with the values that the case's result shows. */
export type RefusedStart =
  | { code: "quota_exceeded"; limit: number }
  | { code: "spend_exceeded"; limitUsd: number; reservedUsd: number }
  | { code: "price_unknown"; agents: readonly string[] }
  | { code: "context_missing"; names: readonly string[] }
  | { code: PlainCode };

type PlainCode =
  | "storage_exceeded"
  | "session_not_found"
  | "turn_not_found"
  | "turn_running"
  | "queue_not_empty"
  | "queue_full"
  | "request_too_long_to_wait"
  | "attachment_not_found"
  | "attachments_too_large"
  | "attachment_refused"
  | "context_too_large"
  | "context_conflicts"
  | "budget_too_small"
  | "overrides_invalid"
  | "question_too_long"
  | "nothing_to_summarise";

/**
 * The reason of a refusal if the start is to be retried, because it may succeed after other turns
 * of the tenant have ended. `null` if a retry cannot succeed.
 */
export function holdReason(refusal: RefusedStart): string | null {
  switch (refusal.code) {
    case "quota_exceeded":
      return `its tenant had ${refusal.limit} ${refusal.limit === 1 ? "turn" : "turns"} running, its limit`;
    case "spend_exceeded":
      return refusal.reservedUsd > 0
        ? "the rest of its tenant's daily budget was reserved by running turns"
        : null;
    default:
      return null;
  }
}

/** The reason of a refused start, as a clause for people. */
export function refusalReason(refusal: RefusedStart): string {
  switch (refusal.code) {
    case "spend_exceeded":
      return `its tenant's daily budget (${formatUsd(refusal.limitUsd)}) is exhausted`;
    case "storage_exceeded":
      return "its tenant's storage is full";
    case "price_unknown":
      return `its tenant has a daily budget, and the price of ${refusal.agents.join(", ")} is unknown`;
    case "context_missing":
      return `no context is uploaded as ${refusal.names.join(", ")}`;
    default:
      return refusal.code.replaceAll("_", " ");
  }
}
