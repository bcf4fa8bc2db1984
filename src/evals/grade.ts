import type { Grade, Grader } from "./schema";
import { toPointer } from "../config/problems";

/** Grades an answer. Pure; never throws. Takes time in proportion to the answer's length. */
export function grade(answer: string, grader: Grader): Grade {
  switch (grader.type) {
    case "exact":
      return gradeExact(answer, grader);
    case "contains":
      return gradeContains(answer, grader);
    case "number":
      return gradeNumber(answer, grader);
    case "json":
      return gradeJson(answer, grader.value);
  }
}

type Of<T extends Grader["type"]> = Extract<Grader, { type: T }>;

/** Compares whole texts. White space around both texts is ignored. */
function gradeExact(answer: string, { value, ignore_case }: Of<"exact">): Grade {
  const found = normalize(answer, ignore_case).trim();
  const expected = normalize(value, ignore_case).trim();
  return found === expected
    ? { pass: true, detail: "equals the expected text" }
    : { pass: false, detail: `is not "${glimpse(value.trim())}"` };
}

function gradeContains(answer: string, { all, any, ignore_case }: Of<"contains">): Grade {
  const text = normalize(answer, ignore_case);
  const isIn = (part: string) => text.includes(normalize(part, ignore_case));
  if (any) {
    const found = any.find(isIn);
    return found === undefined
      ? { pass: false, detail: `contains none of ${quoted(any)}` }
      : { pass: true, detail: `contains ${quoted([found])}` };
  }
  const missing = (all ?? []).filter((part) => !isIn(part));
  return missing.length > 0
    ? { pass: false, detail: `does not contain ${quoted(missing)}` }
    : { pass: true, detail: `contains ${quoted(all ?? [])}` };
}

/** The text in Unicode form NFC, so that both encodings of an accented letter are equal. */
const normalize = (text: string, ignoreCase: boolean): string => {
  const composed = text.normalize("NFC");
  return ignoreCase ? composed.toLowerCase() : composed;
};

const quoted = (texts: readonly string[]): string =>
  texts.map((text) => `"${glimpse(text)}"`).join(", ");

const glimpse = (text: string): string =>
  text.length > 60 ? `${text.slice(0, 59)}…`.toWellFormed() : text;

/**
 * Matches numbers in English notation: `1,234.5`, `.5`, `6.02e23`. A digit after a letter
 * (`agent2`, `H2O`) does not begin a number. A percent sign is ignored: `12%` is 12.
 */
const NUMBER =
  /(?<![\p{L}\p{N}]|[\p{L}\p{N}]\.)(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+|(?<!\.)(?=\.\d))(?:\.\d+)?(?:[eE][+-]?\d+)?/gu;

/**
 * Matches a text that ends with a minus sign, with or without a currency sign after it. A hyphen
 * after a word or a number is no minus sign (`3-5`, `gpt-4`).
 */
const MINUS = /(?:^|[^\p{L}\p{N})\]])[-\u2212][$\u20ac£]?$/u;
/** Characters before a number that are searched for a minus sign. */
const MINUS_CHARS = 4;

/** Relative rounding error of doubles that is accepted in addition to a tolerance. */
const ROUNDING = 4 * Number.EPSILON;

/**
 * Checks whether the first or the last number of the answer is within the tolerance. `which`
 * selects the number.
 */
function gradeNumber(
  answer: string,
  { value, tolerance, which }: Extract<Grader, { type: "number" }>,
): Grade {
  const numbers = numbersIn(answer);
  const found = which === "first" ? numbers[0] : numbers.at(-1);
  if (found === undefined) return { pass: false, detail: "contains no number" };
  if (!Number.isFinite(found)) return { pass: false, detail: `its ${which} number is too large` };
  const allowed = Math.max(tolerance?.absolute ?? 0, (tolerance?.relative ?? 0) * Math.abs(value));
  const roundingError = allowed > 0 ? ROUNDING * Math.max(Math.abs(found), Math.abs(value)) : 0;
  const pass = Math.abs(found - value) <= allowed + roundingError;
  return {
    pass,
    detail: `its ${which} number is ${found}${pass ? "" : `, not ${value}${allowed > 0 ? ` ± ${allowed}` : ""}`}`,
  };
}

/** All numbers of a text, in order. */
export const numbersIn = (text: string): number[] =>
  [...text.matchAll(NUMBER)].map((match) => {
    const absolute = Number(match[0].replaceAll(",", ""));
    return MINUS.test(text.slice(Math.max(0, match.index - MINUS_CHARS), match.index))
      ? -absolute
      : absolute;
  });

/**
 * Checks whether the JSON of the answer is equal to the expected value; the order of keys does not
 * matter. The JSON is the whole answer or, if that is no JSON, the last fenced block that is JSON.
 * Nested blocks are ignored. If a key occurs twice, the last value counts, as in JavaScript.
 */
function gradeJson(answer: string, expected: unknown): Grade {
  const found = [answer, ...fencedBlocks(answer).reverse()]
    .map(parse)
    .find((parsed) => parsed !== null);
  if (!found)
    return {
      pass: false,
      detail: "contains no JSON, neither as the whole text nor in a fenced block",
    };
  const place = firstDifference(found.value, expected, "");
  return place === null
    ? { pass: true, detail: "equals the expected JSON" }
    : { pass: false, detail: `its JSON differs at ${place || "its root"}` };
}

function parse(text: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

/**
 * The contents of the outermost fenced blocks of a Markdown text. A block that is not closed
 * extends to the end of the text.
 */
export function fencedBlocks(text: string): string[] {
  const blocks: string[][] = [];
  let fence: string | null = null;
  for (const line of text.split(/\r?\n/)) {
    const marks = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === null) {
      if (marks === undefined) continue;
      fence = marks;
      blocks.push([]);
    } else if (marks?.startsWith(fence) && line.trim() === marks) {
      fence = null;
    } else {
      blocks.at(-1)?.push(line);
    }
  }
  return blocks.map((lines) => lines.join("\n"));
}

/**
 * The JSON pointer of the first difference; `null` if both values are equal. Never descends deeper
 * than `expected`.
 */
function firstDifference(found: unknown, expected: unknown, at: string): string | null {
  if (!isContainer(found) || !isContainer(expected)) return found === expected ? null : at;
  if (Array.isArray(found) !== Array.isArray(expected)) return at;
  const [inFound, inExpected] = [membersOf(found), membersOf(expected)];
  for (const key of new Set([...inExpected.keys(), ...inFound.keys()])) {
    const place = `${at}${toPointer([key])}`;
    if (!inFound.has(key) || !inExpected.has(key)) return place;
    const innerDifference = firstDifference(inFound.get(key), inExpected.get(key), place);
    if (innerDifference !== null) return innerDifference;
  }
  return null;
}

const isContainer = (value: unknown): value is object =>
  typeof value === "object" && value !== null;

const membersOf = (container: object): Map<string, unknown> => new Map(Object.entries(container));
