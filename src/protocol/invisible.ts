/**
 * A variation selector that belongs to the emoji before it (`❤️`, `1️⃣`), and a joiner between two emoji (`👩🏽‍💻`): readers see them, as
 * one picture. Alone or anywhere else the same two code points show nothing.
 */
const IN_EMOJI = String.raw`(?<=\p{Extended_Pictographic})\ufe0f|(?<=[0-9#*])\ufe0f(?=\u20e3)|(?<=\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)\u200d(?=\p{Extended_Pictographic})`;

/**
 * The source of a `u` pattern for marks that a reader does not see: of width zero, soft hyphens, tags, fillers, and marks that turn the
 * direction of text. Two names that differ in these alone look the same.
 */
export const UNSEEN_MARK = String.raw`(?!${IN_EMOJI})\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}`;

/** Control characters, line separators and marks that a reader does not see: a name must look like what it is. */
export const INVISIBLE = new RegExp(String.raw`[\p{Cc}\p{Zl}\p{Zp}]|${UNSEEN_MARK}`, "u");

/** A character as text that shows which one it is: `\u{200b}`. */
export const spelled = (char: string): string => `\\u{${char.codePointAt(0)?.toString(16)}}`;
