import type { EventOf } from "../../protocol/events";
import { LIMITS } from "../limits";
import type { CallState } from "../state";

/**
 * A provider that cannot be reached. A probe that fails before the request is sent proves that nothing left, so the try costs
 * nothing. After several of them in a row, over some seconds, asking longer would only delay the team: the agent's part ends.
 */

/** The code of a failure by such a probe. */
export const CANNOT_REACH = "cannot_reach";

/** What the call's next probe means, if it fails at `at` (unix ms): when to probe again, or null if the agent's part ends. */
export function nextProbeAt({ unreachable }: CallState, at: number): number | null {
  const { since, probes } = unreachable ?? { since: at, probes: 0 };
  const endsAt = since + LIMITS.unreachableMs;
  if (probes + 1 >= LIMITS.probesPerCall) return at >= endsAt ? null : endsAt;
  return Math.max(at, since) + LIMITS.unreachableMs / (LIMITS.probesPerCall - 1);
}

/** A call's failed probes in a row, with this failure; nothing if it is of another kind. */
export function probesNow(
  before: CallState["unreachable"],
  { code, at }: EventOf<"call.failed">,
): Pick<CallState, "unreachable"> {
  if (code !== CANNOT_REACH) return {};
  const { since, probes } = before ?? { since: at, probes: 0 };
  return { unreachable: { since, probes: probes + 1 } };
}
