/** Text of strangers, made safe to be read: what cannot be seen is shown. */

/**
 * Characters that have no form of their own, or change how others look: controls, zero-width and direction marks, tags, the
 * variation selectors that carry hidden bytes. Line breaks and tabs are left.
 */
const UNSEEN =
  /(?![\t\n])(?:[\p{Cc}\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u034f]|[\u{17b4}\u{17b5}]|[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}]|[\u{e0000}-\u{e0fff}])/gu;

/** Whether a text holds characters that cannot be seen; in names a line break is one too. */
export const hasUnseen = (text: string): boolean =>
  text.search(UNSEEN) >= 0 || /[\t\n]/.test(text) || !text.isWellFormed();

/** The text with what cannot be seen written out, as `\u{200b}`. Windows line breaks become plain ones. */
export function shown(text: string): string {
  return text
    .toWellFormed()
    .replaceAll("\r\n", "\n")
    .replaceAll(UNSEEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** At most so many characters, with a word about what is left out. */
export function cutText(text: string, most: number): string {
  return text.length <= most
    ? text
    : `${text.slice(0, most).toWellFormed()}… [${text.length - most} characters left out]`;
}
