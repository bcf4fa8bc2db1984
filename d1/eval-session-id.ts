import { createHash } from "node:crypto";
import { encodeTime } from "ulid";

/** `suite`: its name. `run`: its id. `scheduledAt`: unix ms. */
type CasePlace = { suite: string; run: string; caseId: string; scheduledAt: number };

/**
 * The session id of a case. The id is computed from suite, run and case, so that a repeated start
 * finds the same session. It has the form of every session id: the time, then 80 bits. These bits
 * are random elsewhere and come from a hash here.
 */
export function evalSessionId({ suite, run, caseId, scheduledAt }: CasePlace): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([suite, run, caseId]))
    .digest("hex")
    .slice(0, 20);
  const tail = BigInt(`0x${hash}`).toString(32).padStart(16, "0");
  return `session_${encodeTime(scheduledAt).toLowerCase()}${tail}`;
}
