/**
 * What a terminal or a reader would act on instead of showing it: control characters other than tab and line feed, marks that turn
 * the direction of text, invisible spaces, halves of characters. U+200D and U+FE0F stay: emoji are made with them.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\p{Surrogate}/gu;

/** The text with everything that would not be seen written out: U+001B becomes `\x1b`. `\r\n` becomes `\n`. */
export function showControls(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(HIDDEN, written);
}

function written(character: string): string {
  const code = character.charCodeAt(0);
  return code <= 0xff ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");
