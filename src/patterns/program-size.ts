/**
 * Upper bound of the size of a pattern's program, computed from its text. It must be known before
 * the pattern is compiled: `((a{10}){10}){10}` is short, but its program is large and takes long to
 * compile. The result for an invalid pattern has no meaning.
 */
export function largestProgram(pattern: string): number {
  const open: Group[] = [{ before: 0, last: 0 }];
  for (const [token] of pattern.matchAll(TOKENS)) {
    const group = open.at(-1);
    if (!group) break;
    const repeat = repeatOf(token);
    if (token.startsWith("(")) open.push({ before: 0, last: 0 });
    else if (token === ")" && open.length > 1) {
      open.pop();
      add(open.at(-1) ?? group, sizeOf(group) + GROUP_SIZE);
    } else if (repeat) group.last = repeatedSize(group.last, repeat);
    else add(group, 1);
    if (sizeOf(group) > MAX_SIZE) return MAX_SIZE;
  }
  return open.reduce((sum, group) => sum + sizeOf(group), START_AND_END_SIZE);
}

/**
 * Numbers of instructions of a group. `last`: instructions of the last part, which a following
 * repeat multiplies. `before`: instructions of all earlier parts.
 */
type Group = { before: number; last: number };

/**
 * An escape, an escaped class, a class of characters, the beginning of a group, a repeat, or one
 * character.
 */
const TOKENS =
  /\\[pP]\{[^}]*\}|\\x\{[^}]*\}|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:[^\]]*:\]|[^\]\\])*\]|\((?:\?P?<[^>]*>|\?[a-zA-Z-]*:)?|\{\d+(?:,\d*)?\}|[\s\S]/gu;
/** Instructions for the start and the end of a capture. */
const GROUP_SIZE = 2;
/** Instructions for the start and the end of every program. */
const START_AND_END_SIZE = 4;
/** The highest size that is computed. Larger programs get this size. */
const MAX_SIZE = 10_000_000;

type Repeat = { min: number; max: number };

function repeatOf(token: string): Repeat | null {
  if (token === "*" || token === "+" || token === "?") return { min: 1, max: 1 };
  const counts = /^\{(\d+)(,(\d*))?\}$/.exec(token);
  if (!counts) return null;
  const min = Number(counts[1]);
  const max = counts[2] === undefined ? min : counts[3] === "" ? min + 1 : Number(counts[3]);
  return { min, max: Math.max(min, max) };
}

/** The size of a repeated part. Each optional copy of the part needs one more instruction. */
const repeatedSize = (size: number, { min, max }: Repeat): number =>
  Math.min(MAX_SIZE, Math.max(1, max) * size + Math.max(1, max - min));

function add(group: Group, size: number): void {
  group.before += group.last;
  group.last = size;
}

const sizeOf = ({ before, last }: Group): number => before + last;

/** Character classes that take long to compile: Unicode properties, and ranges beyond ASCII. */
const UNICODE_CLASS = /\\[pP]|-(?:[^\0-\x7f]|\\x\{)/gu;
const BRANCHES = /[(|]/g;
const IGNORES_CASE = /\(\?[a-zA-Z]*i/;
const NEGATED_CLASS = /\[\^/g;
/** Units of work, by part of a pattern. */
const WORK = { perChar: 30, perBranch: 500, perUnicodeClass: 50_000, perClassWithoutCase: 250_000 };

/** The work of compiling a pattern, in units of `WorkBudget`. Measured, and rounded up. */
export function compileWork(
  pattern: string,
  { program, ignoreCase }: { program: number; ignoreCase: boolean },
): number {
  const count = (kind: RegExp): number => pattern.match(kind)?.length ?? 0;
  const ignoresCase = ignoreCase || IGNORES_CASE.test(pattern);
  const classes = count(UNICODE_CLASS);
  const perClass = ignoresCase
    ? (classes + count(NEGATED_CLASS)) * WORK.perClassWithoutCase
    : classes * WORK.perUnicodeClass;
  return WORK.perChar * (pattern.length + program) + WORK.perBranch * count(BRANCHES) + perClass;
}
