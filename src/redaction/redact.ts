/** What no log, event or answer may hold, and how it is hidden. */

const HIDDEN = "[redacted]";

/** Shorter strings are no keys, and hiding them would tear holes into ordinary words. */
export const SHORTEST_SECRET = 6;

/**
 * All patterns here are bounded where they could begin at every place of a text and fail at its end: texts may be long and hostile.
 *
 * What keys look like, masked ones included (`sk-ab***yz`): a prefix, then at least six more characters. Words that merely
 * begin alike (`sk-learn`, `key-value`) are too short or not in the list. `mge` and `mgt` are our own keys and tickets.
 */
const KEY_SHAPES = [
  /\b(?:sk|pk|rk|gsk|csk|xai|fw|nvapi|tgp|mgk|mge|mgt)[-_][\w*.\u2022\u2026-]{6,}/g,
  /\bAIza[\w-]{20,}/g,
  /\bAQ\.[\w-]{20,}/g,
  // Names of models and functions begin like these too (`pplx-70b-online`, `hf_hub_download`), but are neither as long nor so plain.
  /\b(?:hf_|r8_|pplx-|gh[a-z]_)[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_\w{20,}/g,
  /\beyJ[\w-]{10,400}\.[\w-]+\.[\w-]*/g,
];
/** Name and password in an address. */
const USER_INFO = /(\b[a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/@"'<>]+@/gi;
const BEARER = /\b(bearer|basic)\s+[^\s"',;]{6,}/gi;
const NAMED_VALUE =
  /\b((?:x-)?api[-_]?key|access_token|authorization)(["']?\s*[=:]\s*["']?)(?!bearer|basic)[^\s"'&,;]{6,}/gi;
/** In the query of an address keys have short names too. */
const QUERY_VALUE = /([?&](?:key|token|ticket|sig|signature)=)[^\s"'&#,;)]+/gi;
/** What a provider leaves of a key that it masked itself. */
const MASKED = /[\w-]{0,12}\*{3,}[\w-]{0,12}/g;

/** The text without keys: the given secrets wherever they stand, and whatever is shaped like a key or a bearer token. */
export function redact(text: string, secrets: readonly string[]): string {
  const result = hideSecrets(text, secrets)
    .replace(BEARER, `$1 ${HIDDEN}`)
    .replace(NAMED_VALUE, `$1$2${HIDDEN}`)
    .replace(QUERY_VALUE, `$1${HIDDEN}`);
  return redactShapes(result).replace(MASKED, HIDDEN);
}

/** The text without these secrets, in whatever form they stand there; whatever else looks like a key stays. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return allForms(secrets).reduce((clean, form) => clean.replaceAll(form, HIDDEN), text);
}

/** The same for a text that was cut already: without what one of them begins with at its end, either, though it may be by chance. */
export function hideSecretsInCut(text: string, secrets: readonly string[]): string {
  const clean = hideSecrets(text, secrets);
  const begun = Math.max(0, ...allForms(secrets).map((form) => begunAtEnd(clean, form)));
  return clean.slice(0, clean.length - begun);
}

/** How many characters of `form` a text ends with. */
function begunAtEnd(text: string, form: string): number {
  let length = form.length - 1;
  while (!text.endsWith(form.slice(0, length))) length -= 1;
  return length;
}

const allForms = (secrets: readonly string[]): string[] =>
  secrets
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .flatMap((secret) => [...formsOf(secret)]);

/** As long as no word that only begins like a key. */
const SHORTEST_KEY = 16;

/** Whether a key of a known shape, or a header with one, is in a text. */
export function holdsKey(text: string): boolean {
  const found = KEY_SHAPES.flatMap((shape) => text.match(shape) ?? []);
  return (
    /^\s*(?:bearer|basic)\s+\S{6,}\s*$/i.test(text) ||
    found.some(({ length }) => length >= SHORTEST_KEY)
  );
}

/** A secret as it may stand in a text: as it is, in capitals, in an address, in JSON, in base64, in hex. */
export function formsOf(secret: string): Set<string> {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const inAddress = encodeURIComponent(secret.toWellFormed());
  const bytes = Buffer.from(secret);
  const inHex = bytes.toString("hex");
  const spelt = [secret, secret.toUpperCase(), inAddress, inJson, inJson.replaceAll("/", "\\/")];
  return new Set([...spelt, ...inBase64(bytes), inHex, inHex.toUpperCase()]);
}

/** Encoded alone, and the part that stays the same wherever it begins in what was encoded, in both alphabets. */
function inBase64(secret: Buffer): string[] {
  const parts = [0, 1, 2].map((before) => {
    const bits = (before + secret.length) * 8;
    const encoded = Buffer.concat([Buffer.alloc(before), secret]).toString("base64");
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6));
  });
  const alone = secret.toString("base64");
  const standard = [alone, alone.replace(/=+$/, ""), ...parts];
  return [...standard, ...standard.map((one) => one.replaceAll("+", "-").replaceAll("/", "_"))];
}

/** Our own words about what somebody wrote, without what is shaped like a key: they may say how a key is to be written. */
export function redactShapes(text: string): string {
  const result = text.replace(USER_INFO, `$1${HIDDEN}@`);
  return KEY_SHAPES.reduce((clean, shape) => clean.replace(shape, HIDDEN), result);
}
