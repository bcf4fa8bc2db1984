import { createHash } from "node:crypto";
import { encodeTime } from "ulid";

type CasePlace = { suite: string; run: string; caseId: string; scheduledAt: number };

/**
 * The session of a case: made of the suite, the run and the case, so that whoever starts the case again finds the same session.
 * It looks and sorts like every session's id: the time, then eighty bits, here of a hash.
 */
export function evalSessionId({ suite, run, caseId, scheduledAt }: CasePlace): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([suite, run, caseId]))
    .digest("hex")
    .slice(0, 20);
  const tail = BigInt(`0x${hash}`).toString(32).padStart(16, "0");
  return `session_${encodeTime(scheduledAt).toLowerCase()}${tail}`;
}
