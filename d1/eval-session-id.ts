import { createHash } from "node:crypto";
import { encodeTime } from "ulid";

type CasePlace = { suite: string; run: string; caseId: string; scheduledAt: number };

/**
 * The session id of a case. Computed from suite, run and case, so that repeating the start finds
 * the same session. It has the form and the order of every session id: the time, then eighty bits,
 * here from a hash.
 */
export function evalSessionId({ suite, run, caseId, scheduledAt }: CasePlace): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([suite, run, caseId]))
    .digest("hex")
    .slice(0, 20);
  const tail = BigInt(`0x${hash}`).toString(32).padStart(16, "0");
  return `session_${encodeTime(scheduledAt).toLowerCase()}${tail}`;
}
