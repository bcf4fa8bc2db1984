/** What no log, event or answer may hold, and how it is hidden. */

const HIDDEN = "[redacted]";

/** Shorter strings are no keys, and hiding them would tear holes into ordinary words. */
const SHORTEST_SECRET = 6;

/**
 * What keys look like, masked ones included (`sk-ab***yz`): a prefix, then at least six more characters. Words that merely
 * begin alike (`sk-learn`, `key-value`) are too short or not in the list. `mge` and `mgt` are our own keys and tickets.
 */
const KEY_SHAPES = [
  /\b(?:sk|pk|rk|gsk|csk|xai|fw|nvapi|tgp|mgk|mge|mgt)[-_][\w*.•…-]{6,}/g,
  /\bAIza[\w-]{20,}/g,
  /\beyJ[\w-]{10,}\.[\w-]+\.[\w-]*/g,
];
/** Name and password in an address. */
const USER_INFO = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"'<>]+@/gi;
const BEARER = /\b(bearer|basic)\s+[^\s"',;]{6,}/gi;
const NAMED_VALUE = /\b((?:x-)?api[-_]?key|access_token|authorization)(["']?\s*[=:]\s*["']?)(?!bearer|basic)[^\s"'&,;]{6,}/gi;
/** In the query of an address keys have short names too. */
const QUERY_VALUE = /([?&](?:key|token|ticket|sig|signature)=)[^\s"'&#,;)]+/gi;
/** What a provider leaves of a key that it masked itself. */
const MASKED = /[\w-]{0,12}\*{3,}[\w-]{0,12}/g;

/** The text without keys: the given secrets wherever they stand, and whatever is shaped like a key or a bearer token. */
export function redact(text: string, secrets: readonly string[]): string {
  let result = text;
  for (const secret of secrets.flatMap((one) => [one, encodeURIComponent(one.toWellFormed())])) {
    if (secret.length >= SHORTEST_SECRET) result = result.replaceAll(secret, HIDDEN);
  }
  result = result.replace(BEARER, `$1 ${HIDDEN}`).replace(NAMED_VALUE, `$1$2${HIDDEN}`).replace(QUERY_VALUE, `$1${HIDDEN}`);
  return redactShapes(result).replace(MASKED, HIDDEN);
}

/** Our own words about what somebody wrote, without what is shaped like a key: they may say how a key is to be written. */
export function redactShapes(text: string): string {
  const result = text.replace(USER_INFO, `$1${HIDDEN}@`);
  return KEY_SHAPES.reduce((clean, shape) => clean.replace(shape, HIDDEN), result);
}
