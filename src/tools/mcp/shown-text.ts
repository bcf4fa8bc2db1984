/** Makes untrusted text safe to read: invisible characters are escaped. */

/**
 * Invisible characters and those that change how others look: controls, zero-width and direction
 * marks, tags, variation selectors that can carry hidden bytes. Line breaks and tabs are allowed.
 */
const UNSEEN =
  /(?![\t\n])(?:[\p{Cc}\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u034f]|[\u{17b4}\u{17b5}]|[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}]|[\u{e0000}-\u{e0fff}])/gu;

/** Whether a name contains invisible characters, including line breaks. */
export const hasUnseen = (text: string): boolean =>
  text.search(UNSEEN) >= 0 || /[\t\n]/.test(text) || !text.isWellFormed();

/** The text with invisible characters escaped, as `\u{200b}`. CRLF becomes LF. */
export function shown(text: string): string {
  return text
    .toWellFormed()
    .replaceAll("\r\n", "\n")
    .replaceAll(UNSEEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** At most `most` characters, followed by the number of characters left out. */
export function cutText(text: string, most: number): string {
  return text.length <= most
    ? text
    : `${text.slice(0, most).toWellFormed()}… [${text.length - most} characters left out]`;
}
