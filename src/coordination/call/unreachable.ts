import type { EventOf } from "../../protocol/events";
import { LIMITS } from "../limits";
import type { CallState } from "../state";

/**
 * A provider that cannot be reached. A probe that fails before the request is sent proves that
 * nothing was sent, so the try costs nothing. After several failed probes in a row, over some
 * seconds, the agent fails: more probes would only delay the team.
 */

/** Code of a failed probe. */
export const CANNOT_REACH = "cannot_reach";

/**
 * When to probe again if the next probe fails at `at` (unix ms); `null` if the agent fails then.
 */
export function nextProbeAt({ unreachable }: CallState, at: number): number | null {
  const { since, probes } = unreachable ?? { since: at, probes: 0 };
  const endsAt = since + LIMITS.unreachableMs;
  if (probes + 1 >= LIMITS.probesPerCall) return at >= endsAt ? null : endsAt;
  return Math.max(at, since) + LIMITS.unreachableMs / (LIMITS.probesPerCall - 1);
}

/** Failed probes in a row including this failure; none if the failure is of another kind. */
export function countProbe(
  before: CallState["unreachable"],
  { code, at }: EventOf<"call.failed">,
): Pick<CallState, "unreachable"> {
  if (code !== CANNOT_REACH) return {};
  const { since, probes } = before ?? { since: at, probes: 0 };
  return { unreachable: { since, probes: probes + 1 } };
}
