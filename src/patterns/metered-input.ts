/**
 * A text as the engine of `re2js` reads it, which counts what is read. The engine asks for each
 * character at each position once (its backtracker once for each visited instruction), so the count
 * is exact where a match ends early or late.
 */
export class MeteredInput {
  readonly charSequence: string;
  readonly start = 0;
  readonly end: number;
  /** Work that is left; negative once it is used up. */
  left: number;
  readonly #price: number;

  /** `price`: the work that one character costs. */
  constructor(text: string, { price, allowance }: { price: number; allowance: number }) {
    this.charSequence = text;
    this.end = text.length;
    this.left = allowance;
    this.#price = price;
  }

  /**
   * The code point at a position and its width, packed as `code point << 3 | width`; EOF at the
   * end.
   */
  step(pos: number): number {
    this.left -= this.#price;
    if (this.left < 0) throw OUT_OF_WORK;
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
   * Where the literal beginning of a pattern comes next, from `pos` on and counted from there; -1
   * if nowhere.
   */
  index({ prefix }: { prefix: string }, pos: number): number {
    const at = this.#indexOf(prefix, pos);
    return at < 0 ? -1 : at - pos;
  }

  /** The context of a position, for `^`, `$` and `\b`, as the engine's own flags. */
  context(pos: number): number {
    const before = pos > 0 && pos <= this.end ? this.charSequence.charCodeAt(pos - 1) : -1;
    const after = pos < this.end ? this.charSequence.charCodeAt(pos) : -1;
    return emptyContext(before, after);
  }

  prefixLength({ prefix }: { prefix: string }): number {
    return prefix.length;
  }

  #indexOf(wanted: string, pos: number): number {
    const found = this.charSequence.indexOf(wanted, pos);
    const at = found > this.end - wanted.length ? -1 : found;
    this.#charge(((at < 0 ? this.end : at) - pos) / NATIVE_SPEED + 1);
    return at;
  }

  #charge(work: number): void {
    this.left -= work;
    if (this.left < 0) throw OUT_OF_WORK;
  }
}

/**
 * Thrown through the engine when the work is used up. One for all, because making an error costs
 * more than most matches.
 */
export const OUT_OF_WORK = new Error("out of work");

const EOF = -8;
/** Characters that the runtime's own `indexOf` passes in the time of one unit of work. */
const NATIVE_SPEED = 32;

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
