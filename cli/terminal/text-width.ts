/** Width of text in terminal columns. The text must not contain control characters. */

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/**
 * Characters of two columns: CJK, Hangul, kana, fullwidth forms, and emoji, also with a variation
 * selector.
 */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|^\p{Emoji_Presentation}|\ufe0f/u;
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}\p{Zl}\p{Zp}]+$/u;
const ASCII = /^[\x20-\x7e]*$/;

/** The number of terminal columns of `text`. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += graphemeWidth(segment);
  return width;
}

/** The beginning of `text` that fits into `columns`. An ellipsis replaces the rest, if any. */
export function fitStart(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  return columns < 1 ? "" : `${fittingParts(segments(text), columns - 1).join("")}…`;
}

/** The end of `text` that fits into `columns`. An ellipsis replaces the beginning, if it is cut. */
export function fitEnd(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  return columns < 1
    ? ""
    : `…${fittingParts(segments(text).reverse(), columns - 1)
        .reverse()
        .join("")}`;
}

/** Pads `text` with spaces to `columns`. */
export const padTo = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - widthOf(text)));

const segments = (text: string): string[] =>
  Array.from(graphemes.segment(text), ({ segment }) => segment);

function fittingParts(parts: string[], columns: number): string[] {
  let width = 0;
  const count = parts.findIndex((part) => {
    width += graphemeWidth(part);
    return width > columns;
  });
  return count < 0 ? parts : parts.slice(0, count);
}

function graphemeWidth(grapheme: string): number {
  if (NO_WIDTH.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}
