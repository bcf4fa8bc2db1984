import type { EventOf } from "../../protocol/events";
import { LIMITS } from "../limits";
import type { CallState } from "../state";

/**
 * The rules for a provider that cannot be reached. Before a request is sent, a probe tests the
 * connection. If the probe fails, nothing was sent, so the try costs nothing. If several probes in
 * a row fail over some seconds, the agent fails: more probes would only delay the team.
 */

/** Code of a failed probe. */
export const CANNOT_REACH = "cannot_reach";

/** The time (unix ms) of the next probe if this probe fails at `at`; `null` if the agent fails. */
export function nextProbeAt({ unreachable }: CallState, at: number): number | null {
  const { since, probes } = unreachable ?? { since: at, probes: 0 };
  const endsAt = since + LIMITS.unreachableMs;
  if (probes + 1 >= LIMITS.probesPerCall) return at >= endsAt ? null : endsAt;
  return Math.max(at, since) + LIMITS.unreachableMs / (LIMITS.probesPerCall - 1);
}

/**
 * The number of failed probes in a row, including this failure. A failure of another kind resets
 * the number.
 */
export function countProbe(
  before: CallState["unreachable"],
  { code, at }: EventOf<"call.failed">,
): Pick<CallState, "unreachable"> {
  if (code !== CANNOT_REACH) return {};
  const { since, probes } = before ?? { since: at, probes: 0 };
  return { unreachable: { since, probes: probes + 1 } };
}
