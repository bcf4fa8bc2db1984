/** Finds and hides secrets in logs, events and responses. */

const HIDDEN = "[redacted]";

/** Shorter strings are not keys, and hiding them would damage ordinary words. */
export const SHORTEST_SECRET = 6;

/**
 * Forms of keys, including masked ones (`sk-ab***yz`): a prefix and at least six more characters.
 * Words with similar prefixes (`sk-learn`, `key-value`) are too short or not listed. `mge` and
 * `mgt` are our own keys and tickets. All patterns here are bounded if they can start at every
 * position and fail at the end, because texts may be long and hostile.
 */
const KEY_SHAPES = [
  /\b(?:sk|pk|rk|gsk|csk|xai|fw|nvapi|tgp|mgk|mge|mgt)[-_][\w*.\u2022\u2026-]{6,}/g,
  /\bAIza[\w-]{20,}/g,
  /\bAQ\.[\w-]{20,}/g,
  // Names of models and functions have these prefixes too (`pplx-70b-online`, `hf_hub_download`),
  // but are shorter or contain separators.
  /\b(?:hf_|r8_|pplx-|gh[a-z]_)[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_\w{20,}/g,
  /\beyJ[\w-]{10,400}\.[\w-]+\.[\w-]*/g,
];
/** User name and password in an address. */
const USER_INFO = /(\b[a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/@"'<>]+@/gi;
const BEARER = /\b(bearer|basic)\s+[^\s"',;]{6,}/gi;
const NAMED_VALUE =
  /\b((?:x-)?api[-_]?key|access_token|authorization)(["']?\s*[=:]\s*["']?)(?!bearer|basic)[^\s"'&,;]{6,}/gi;
/** Short parameter names of keys in a query. */
const QUERY_VALUE = /([?&](?:key|token|ticket|sig|signature)=)[^\s"'&#,;)]+/gi;
/** A key that the provider masked. */
const MASKED = /[\w-]{0,12}\*{3,}[\w-]{0,12}/g;

/**
 * The text without keys: the given secrets, and everything that looks like a key or bearer token.
 */
export function redact(text: string, secrets: readonly string[]): string {
  const result = hideSecrets(text, secrets)
    .replace(BEARER, `$1 ${HIDDEN}`)
    .replace(NAMED_VALUE, `$1$2${HIDDEN}`)
    .replace(QUERY_VALUE, `$1${HIDDEN}`);
  return redactShapes(result).replace(MASKED, HIDDEN);
}

/** The text without these secrets in any encoded form. Other keys stay. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return allForms(secrets).reduce((clean, form) => clean.replaceAll(form, HIDDEN), text);
}

/**
 * The same for a text that was already cut: also removes a partial secret at its end, even if it
 * matches by chance.
 */
export function hideSecretsInCut(text: string, secrets: readonly string[]): string {
  const clean = hideSecrets(text, secrets);
  const begun = Math.max(0, ...allForms(secrets).map((form) => begunAtEnd(clean, form)));
  return clean.slice(0, clean.length - begun);
}

/** Length of the longest prefix of `form` at the end of the text. */
function begunAtEnd(text: string, form: string): number {
  let length = form.length - 1;
  while (!text.endsWith(form.slice(0, length))) length -= 1;
  return length;
}

const allForms = (secrets: readonly string[]): string[] =>
  secrets
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .flatMap((secret) => [...formsOf(secret)]);

/** Longer than words that only share a prefix with keys. */
const SHORTEST_KEY = 16;

/** Whether a text contains a key of a known form, or a header with one. */
export function holdsKey(text: string): boolean {
  const found = KEY_SHAPES.flatMap((shape) => text.match(shape) ?? []);
  return (
    /^\s*(?:bearer|basic)\s+\S{6,}\s*$/i.test(text) ||
    found.some(({ length }) => length >= SHORTEST_KEY)
  );
}

/** The forms of a secret in texts: plain, upper case, URL, JSON, base64, hex. */
export function formsOf(secret: string): Set<string> {
  const inJson = JSON.stringify(secret).slice(1, -1);
  const inAddress = encodeURIComponent(secret.toWellFormed());
  const bytes = Buffer.from(secret);
  const inHex = bytes.toString("hex");
  const spelt = [secret, secret.toUpperCase(), inAddress, inJson, inJson.replaceAll("/", "\\/")];
  return new Set([...spelt, ...inBase64(bytes), inHex, inHex.toUpperCase()]);
}

/** Base64 of the secret alone, and its constant part at every alignment, in both alphabets. */
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

/**
 * For our own messages that quote input: hides what looks like a key, but keeps names of
 * parameters, which may be part of a remedy.
 */
export function redactShapes(text: string): string {
  const result = text.replace(USER_INFO, `$1${HIDDEN}@`);
  return KEY_SHAPES.reduce((clean, shape) => clean.replace(shape, HIDDEN), result);
}
