/**
 * What a terminal or a reader would act on instead of showing it: control characters other than tab and line feed, marks that turn
 * the direction of text, invisible spaces, halves of characters. U+200D and U+FE0F stay: emoji are made with them.
 */
const HIDDEN =
  /[^\P{Cc}\n\t]|\p{Bidi_Control}|\p{Zl}|\p{Zp}|\p{Surrogate}|[\u00ad\u200b\u2060-\u2064\u206a-\u206f\ufeff]/gu;

/** The text with everything that would not be seen written out: U+001B becomes `\x1b`. `\r\n` becomes `\n`. */
export function showControls(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(HIDDEN, written);
}

function written(character: string): string {
  const code = character.charCodeAt(0);
  return code <= 0xff ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");
