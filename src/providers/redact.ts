import { MAX_MESSAGE_CHARS } from "./limits";

const HIDDEN = "[redacted]";

/** Shorter strings are no keys, and hiding them would tear holes into ordinary words. */
const SHORTEST_SECRET = 6;

/**
 * What keys look like, masked ones included (`sk-ab***yz`): a vendor's prefix, then at least six more characters. Words that
 * merely begin alike (`sk-learn`, `key-value`) are too short or not in the list.
 */
const KEY_SHAPES = [
  /\b(?:sk|pk|rk|gsk|csk|xai|fw|nvapi|tgp|mgk)[-_][\w*.•…-]{6,}/g,
  /\bAIza[\w-]{20,}/g,
  /\beyJ[\w-]{10,}\.[\w-]+\.[\w-]*/g,
];
const BEARER = /\b(bearer|basic)\s+[^\s"',;]{6,}/gi;
const NAMED_VALUE = /\b((?:x-)?api[-_]?key|access_token|authorization)(["']?\s*[=:]\s*["']?)(?!bearer|basic)[^\s"'&,;]{6,}/gi;
/** In the query of an address keys have short names too. */
const QUERY_VALUE = /([?&](?:key|token|sig|signature)=)[^\s"'&#,;)]+/gi;
/** What a provider leaves of a key that it masked itself. */
const MASKED = /[\w-]{0,12}\*{3,}[\w-]{0,12}/g;

/** The text without keys: the given secrets wherever they stand, and whatever is shaped like a key or a bearer token. */
export function redact(text: string, secrets: readonly string[]): string {
  let result = text;
  for (const secret of secrets.flatMap((one) => [one, encodeURIComponent(one.toWellFormed())])) {
    if (secret.length >= SHORTEST_SECRET) result = result.replaceAll(secret, HIDDEN);
  }
  result = result.replace(BEARER, `$1 ${HIDDEN}`).replace(NAMED_VALUE, `$1$2${HIDDEN}`).replace(QUERY_VALUE, `$1${HIDDEN}`);
  for (const shape of [...KEY_SHAPES, MASKED]) result = result.replace(shape, HIDDEN);
  return result;
}

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
