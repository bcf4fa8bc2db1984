import type { Grade, Grader } from "./schema";

/**
 * Numbers as English writes them: `1,234.5`, `.5`, `6.02e23`. A digit that follows a letter (`agent2`, `H2O`) begins none, and a
 * percent sign changes nothing: `12%` is 12.
 */
const NUMBER =
  /(?<![\p{L}\p{N}]|[\p{L}\p{N}]\.)(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+|(?<!\.)(?=\.\d))(?:\.\d+)?(?:[eE][+-]?\d+)?/gu;

/** A minus directly before the digits or their currency, with no word or figure before it that it could join (`3-5`, `gpt-4`). */
const MINUS = /(?:^|[^\p{L}\p{N})\]])[-\u2212][$\u20ac£]?$/u;
const MINUS_CHARS = 4;

/** Doubles miss the edge of a tolerance by this part of their size. */
const ROUNDING = 4 * Number.EPSILON;

/** Whether the last number of the answer (or the first, if the grader says so) is near enough to the one expected. */
export function gradeNumber(
  answer: string,
  { value, tolerance, which }: Extract<Grader, { type: "number" }>,
): Grade {
  const numbers = numbersIn(answer);
  const found = which === "first" ? numbers[0] : numbers.at(-1);
  if (found === undefined) return { pass: false, detail: "has no number" };
  if (!Number.isFinite(found))
    return { pass: false, detail: `its ${which} number is too large to be one` };
  const allowed = Math.max(tolerance?.absolute ?? 0, (tolerance?.relative ?? 0) * Math.abs(value));
  const slack = allowed > 0 ? ROUNDING * Math.max(Math.abs(found), Math.abs(value)) : 0;
  const pass = Math.abs(found - value) <= allowed + slack;
  return {
    pass,
    detail: `its ${which} number is ${found}${pass ? "" : `, not ${value}${allowed > 0 ? ` ± ${allowed}` : ""}`}`,
  };
}

/** Every number of a text, in order. */
export const numbersIn = (text: string): number[] =>
  [...text.matchAll(NUMBER)].map((match) => {
    const size = Number(match[0].replaceAll(",", ""));
    return MINUS.test(text.slice(Math.max(0, match.index - MINUS_CHARS), match.index))
      ? -size
      : size;
  });
