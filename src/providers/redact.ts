import { redact } from "../redaction/redact";
import { MAX_MESSAGE_CHARS } from "./limits";

/**
 * A provider's words as a failure's message: one line, without the control characters that a terminal would obey. Redacts before
 * it cuts, so that no half of a key is left at the end.
 */
export function toMessage(words: string, secrets: readonly string[]): string {
  const clean = redact(words, secrets)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  return clean.length <= MAX_MESSAGE_CHARS ? clean : `${clean.slice(0, MAX_MESSAGE_CHARS - 1)}…`;
}
