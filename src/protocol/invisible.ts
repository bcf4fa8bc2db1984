/**
 * Source of a `u` pattern for a variation selector after its emoji (`❤️`, `1️⃣`), and for a
 * joiner between two emoji (`👩🏽‍💻`). There, both are part of the picture that people see.
 * Everywhere else, these two code points are invisible.
 */
const IN_EMOJI = String.raw`(?<=\p{Extended_Pictographic})\ufe0f|(?<=[0-9#*])\ufe0f(?=\u20e3)|(?<=\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)\u200d(?=\p{Extended_Pictographic})`;

/**
 * Source of a `u` pattern for invisible marks: zero-width characters, soft hyphens, tags, fillers,
 * and marks that change the direction of text. Two names that differ only in such marks look the
 * same.
 */
export const UNSEEN_MARK = String.raw`(?!${IN_EMOJI})\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}`;

/** Control characters, line separators and invisible marks. Names must not contain them. */
export const INVISIBLE = new RegExp(String.raw`[\p{Cc}\p{Zl}\p{Zp}]|${UNSEEN_MARK}`, "u");

/** Returns the escape sequence of a character, which is visible: `\u{200b}`. */
export const spelled = (char: string): string => `\\u{${char.codePointAt(0)?.toString(16)}}`;
