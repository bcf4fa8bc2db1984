/**
 * Input text for the engine of `re2js`. Counts the work of a match, and ends the match when the
 * allowed work is used up. The engine's own class `MachineUTF16Input` determines the names of the
 * members.
 *
 * The engine calls `step` once per character, and its backtracker once per instruction at a
 * character. So the count is exact, also if a match ends before the end of the text.
 */
export class MeteredInput {
  readonly charSequence: string;
  readonly start = 0;
  readonly end: number;
  /** Units of work that the match may still do; negative if it tried to do more. */
  remainingWork: number;
  readonly #workPerStep: number;

  /** `workPerStep`: units of work of one call of `step`. `allowance`: of the whole match. */
  constructor(
    text: string,
    { workPerStep, allowance }: { workPerStep: number; allowance: number },
  ) {
    this.charSequence = text;
    this.end = text.length;
    this.remainingWork = allowance;
    this.#workPerStep = workPerStep;
  }

  /**
   * The code point at a position and its width in UTF-16 units, as `code point << 3 | width`.
   * Returns `EOF` at the end of the text.
   */
  step(pos: number): number {
    this.remainingWork -= this.#workPerStep;
    if (this.remainingWork < 0) throw OUT_OF_WORK;
    if (pos >= this.end) return EOF;
    const first = this.charSequence.charCodeAt(pos);
    if ((first & 0xfc00) !== 0xd800 || pos + 1 >= this.end) return (first << 3) | 1;
    const second = this.charSequence.charCodeAt(pos + 1);
    if ((second & 0xfc00) !== 0xdc00) return (first << 3) | 1;
    return ((((first & 0x3ff) << 10) + (second & 0x3ff) + 0x10000) << 3) | 2;
  }

  canCheckPrefix(): boolean {
    return true;
  }

  endPos(): number {
    return this.end;
  }

  hasString({ str }: { str: string }, pos: number): boolean {
    return this.#indexOf(str, pos) >= 0;
  }

  hasAnyString(
    filter: { automaton16(): { searchUTF16(text: string, from: number, end: number): boolean } },
    pos: number,
  ): boolean {
    this.#charge(this.end - pos);
    return filter.automaton16().searchUTF16(this.charSequence, pos, this.end);
  }

  /**
   * The distance from `pos` to the next occurrence of the pattern's literal prefix; -1 if there is
   * none.
   */
  index({ prefix }: { prefix: string }, pos: number): number {
    const index = this.#indexOf(prefix, pos);
    return index < 0 ? -1 : index - pos;
  }

  /** The engine's flags for a position. It evaluates `^`, `$` and `\b` with them. */
  context(pos: number): number {
    const before = pos > 0 && pos <= this.end ? this.charSequence.charCodeAt(pos - 1) : -1;
    const after = pos < this.end ? this.charSequence.charCodeAt(pos) : -1;
    return emptyContext(before, after);
  }

  prefixLength({ prefix }: { prefix: string }): number {
    return prefix.length;
  }

  #indexOf(searchText: string, pos: number): number {
    const position = this.charSequence.indexOf(searchText, pos);
    const index = position > this.end - searchText.length ? -1 : position;
    const searchEnd = index < 0 ? this.end : index;
    this.#charge((searchEnd - pos) / CHARS_PER_WORK + 1);
    return index;
  }

  #charge(work: number): void {
    this.remainingWork -= work;
    if (this.remainingWork < 0) throw OUT_OF_WORK;
  }
}

/**
 * Thrown when the allowance of a match is used up; the engine passes it on to the caller. All
 * matches throw the same object, because creating an error takes longer than most matches.
 */
export const OUT_OF_WORK = new Error("out of work");

const EOF = -8;
/** Number of characters that the native `indexOf` searches in the time of one unit of work. */
const CHARS_PER_WORK = 32;

const BEGIN_LINE = 1;
const END_LINE = 2;
const BEGIN_TEXT = 4;
const END_TEXT = 8;
const WORD_BOUNDARY = 16;
const NO_WORD_BOUNDARY = 32;
const NEWLINE = 10;

function emptyContext(before: number, after: number): number {
  let flags = 0;
  if (before < 0) flags |= BEGIN_TEXT | BEGIN_LINE;
  if (before === NEWLINE) flags |= BEGIN_LINE;
  if (after < 0) flags |= END_TEXT | END_LINE;
  if (after === NEWLINE) flags |= END_LINE;
  return flags | (isWord(before) === isWord(after) ? NO_WORD_BOUNDARY : WORD_BOUNDARY);
}

const isWord = (code: number): boolean =>
  (code >= 97 && code <= 122) ||
  (code >= 65 && code <= 90) ||
  (code >= 48 && code <= 57) ||
  code === 95;
