/**
 * Characters that are invisible or that change how other characters look: control characters,
 * zero-width characters, direction marks, tags, and variation selectors that can contain hidden
 * bytes. Line feeds and tabs are not included.
 */
const INVISIBLE =
  /(?![\t\n])(?:[\p{Cc}\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u034f]|[\u{17b4}\u{17b5}]|[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}]|[\u{e0000}-\u{e0fff}])/gu;

/** Whether a name contains invisible characters, including line breaks. */
export const hasInvisible = (text: string): boolean =>
  text.search(INVISIBLE) >= 0 || /[\t\n]/.test(text) || !text.isWellFormed();

/** The text with invisible characters escaped, as `\u{200b}`. CRLF becomes LF. */
export function escapeInvisible(text: string): string {
  return text
    .toWellFormed()
    .replaceAll("\r\n", "\n")
    .replaceAll(INVISIBLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The first `maxChars` characters. If the text is longer, the number of the others follows. */
export function cutText(text: string, maxChars: number): string {
  return text.length <= maxChars
    ? text
    : `${text.slice(0, maxChars).toWellFormed()}… [${text.length - maxChars} characters left out]`;
}
