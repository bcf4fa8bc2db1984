/** Finds and hides secrets in logs, events and responses. */

const HIDDEN = "[redacted]";

/** Minimum length of a secret. Shorter texts are not keys, and could be part of ordinary words. */
export const SHORTEST_SECRET = 6;

/**
 * Forms of keys: a prefix and at least six more characters. Keys that a provider masked match too
 * (`sk-ab***yz`). Ordinary words do not match: they are too short (`sk-learn`) or have another
 * prefix (`key-value`). `mge` and `mgt` are keys and tickets of this service.
 *
 * Texts may be long and hostile. So a pattern in this file has a maximum length if it can start at
 * every position and fail at the end: otherwise its time would be quadratic.
 */
const KEY_PATTERNS = [
  /\b(?:sk|pk|rk|gsk|csk|xai|fw|nvapi|tgp|mgk|mge|mgt)[-_][\w*.\u2022\u2026-]{6,}/g,
  /\bAIza[\w-]{20,}/g,
  /\bAQ\.[\w-]{20,}/g,
  // Some names of models and functions have these prefixes (`pplx-70b-online`, `hf_hub_download`).
  // They do not match, because they are shorter or contain separators.
  /\b(?:hf_|r8_|pplx-|gh[a-z]_)[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_\w{20,}/g,
  /\beyJ[\w-]{10,400}\.[\w-]+\.[\w-]*/g,
];
/** User name and password in a URL. */
const USER_INFO_PATTERN = /(\b[a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/@"'<>]+@/gi;
const BEARER_PATTERN = /\b(bearer|basic)\s+[^\s"',;]{6,}/gi;
const NAMED_VALUE_PATTERN =
  /\b((?:x-)?api[-_]?key|access_token|authorization)(["']?\s*[=:]\s*["']?)(?!bearer|basic)[^\s"'&,;]{6,}/gi;
/** Short parameter names of keys in a query. */
const QUERY_VALUE_PATTERN = /([?&](?:key|token|ticket|sig|signature)=)[^\s"'&#,;)]+/gi;
/** A key that a provider masked with asterisks. */
const MASKED_PATTERN = /[\w-]{0,12}\*{3,}[\w-]{0,12}/g;

/**
 * Returns the text without keys. Hides these secrets, and all that looks like a key or a bearer
 * token.
 */
export function redact(text: string, secrets: readonly string[]): string {
  const result = hideSecrets(text, secrets)
    .replace(BEARER_PATTERN, `$1 ${HIDDEN}`)
    .replace(NAMED_VALUE_PATTERN, `$1$2${HIDDEN}`)
    .replace(QUERY_VALUE_PATTERN, `$1${HIDDEN}`);
  return redactShapes(result).replace(MASKED_PATTERN, HIDDEN);
}

/** Returns the text without these secrets, in all their encoded forms. Other keys stay. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return allForms(secrets).reduce((clean, form) => clean.replaceAll(form, HIDDEN), text);
}

/**
 * Like `hideSecrets`, for a text that was cut off. Also removes the last characters if they are the
 * beginning of a secret, although they may match by chance.
 */
export function hideSecretsInCut(text: string, secrets: readonly string[]): string {
  const clean = hideSecrets(text, secrets);
  const prefixLengths = allForms(secrets).map((form) => prefixLengthAtEnd(clean, form));
  return clean.slice(0, clean.length - Math.max(0, ...prefixLengths));
}

/** Length of the longest prefix of `form` with which the text ends. */
function prefixLengthAtEnd(text: string, form: string): number {
  let length = form.length - 1;
  while (!text.endsWith(form.slice(0, length))) length -= 1;
  return length;
}

const allForms = (secrets: readonly string[]): string[] =>
  secrets
    .filter(({ length }) => length >= SHORTEST_SECRET)
    .flatMap((secret) => [...formsOf(secret)]);

/** Minimum length of a key in `holdsKey`. Ordinary words with the prefix of a key are shorter. */
const MIN_KEY_CHARS = 16;

/** Whether a text contains a key of a known form, or is a header value with a key. */
export function holdsKey(text: string): boolean {
  const found = KEY_PATTERNS.flatMap((shape) => text.match(shape) ?? []);
  return (
    /^\s*(?:bearer|basic)\s+\S{6,}\s*$/i.test(text) ||
    found.some(({ length }) => length >= MIN_KEY_CHARS)
  );
}

/** The forms that a secret can have in texts: plain, upper case, URL, JSON, base64 and hex. */
export function formsOf(secret: string): Set<string> {
  const json = JSON.stringify(secret).slice(1, -1);
  const urlEncoded = encodeURIComponent(secret.toWellFormed());
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  const textForms = [secret, secret.toUpperCase(), urlEncoded, json, json.replaceAll("/", "\\/")];
  return new Set([...textForms, ...base64FormsOf(bytes), hex, hex.toUpperCase()]);
}

/**
 * The base64 forms of a secret, in both alphabets. Inside a longer encoded text, the form depends
 * on the number of bytes before the secret (modulo 3). For each of the three cases, the result has
 * the characters that depend only on the secret.
 */
function base64FormsOf(secret: Buffer): string[] {
  const parts = [0, 1, 2].map((bytesBefore) => {
    const bits = (bytesBefore + secret.length) * 8;
    const encoded = Buffer.concat([Buffer.alloc(bytesBefore), secret]).toString("base64");
    return encoded.slice(Math.ceil((bytesBefore * 8) / 6), Math.floor(bits / 6));
  });
  const alone = secret.toString("base64");
  const standard = [alone, alone.replace(/=+$/, ""), ...parts];
  const urlSafe = standard.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"));
  return [...standard, ...urlSafe];
}

/**
 * Hides all that looks like a key. For messages of this service that quote input. Unlike `redact`,
 * it keeps values after names such as `api_key=`, because a message can advise how to set them.
 */
export function redactShapes(text: string): string {
  const result = text.replace(USER_INFO_PATTERN, `$1${HIDDEN}@`);
  return KEY_PATTERNS.reduce((clean, shape) => clean.replace(shape, HIDDEN), result);
}
