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
      add(open.at(-1) ?? group, sizeOf(group) + GROUP);
    } else if (repeat) group.last = repeated(group.last, repeat);
    else add(group, 1);
    if (sizeOf(group) > LARGEST) return LARGEST;
  }
  return open.reduce((sum, group) => sum + sizeOf(group), ENDS);
}

/**
 * Number of instructions of a group. `last`: of its last part, which a repeat multiplies; `before`:
 * of all parts before it.
 */
type Group = { before: number; last: number };

/**
 * An escape, an escaped class, a class of characters, the beginning of a group, a repeat, or one
 * character.
 */
const TOKENS =
  /\\[pP]\{[^}]*\}|\\x\{[^}]*\}|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:[^\]]*:\]|[^\]\\])*\]|\((?:\?P?<[^>]*>|\?[a-zA-Z-]*:)?|\{\d+(?:,\d*)?\}|[\s\S]/gu;
/** Instructions for the start and the end of a capture. */
const GROUP = 2;
/** Instructions for the start and the end of every program. */
const ENDS = 4;
/** Larger sizes are not computed exactly. */
const LARGEST = 10_000_000;

type Repeat = { least: number; most: number };

function repeatOf(token: string): Repeat | null {
  if (token === "*" || token === "+" || token === "?") return { least: 1, most: 1 };
  const counts = /^\{(\d+)(,(\d*))?\}$/.exec(token);
  if (!counts) return null;
  const least = Number(counts[1]);
  const most = counts[2] === undefined ? least : counts[3] === "" ? least + 1 : Number(counts[3]);
  return { least, most: Math.max(least, most) };
}

/** Each optional copy of the repeated part needs a branch instruction. */
const repeated = (size: number, { least, most }: Repeat): number =>
  Math.min(LARGEST, Math.max(1, most) * size + Math.max(1, most - least));

function add(group: Group, size: number): void {
  group.before += group.last;
  group.last = size;
}

const sizeOf = ({ before, last }: Group): number => before + last;

/** Character classes that take long to compile: Unicode properties, and ranges beyond ASCII. */
const UNICODE_CLASS = /\\[pP]|-(?:[^\0-\x7f]|\\x\{)/gu;
const BRANCHES = /[(|]/g;
const FOLDED = /\(\?[a-zA-Z]*i/;
const NEGATED = /\[\^/g;
const WORK = { perChar: 30, perBranch: 500, perUnicodeClass: 50_000, perFoldedClass: 250_000 };

/** The work of compiling a pattern, in units of `WorkBudget`. Measured, and rounded up. */
export function compileWork(
  pattern: string,
  { program, ignoreCase }: { program: number; ignoreCase: boolean },
): number {
  const count = (kind: RegExp): number => pattern.match(kind)?.length ?? 0;
  const isFolded = ignoreCase || FOLDED.test(pattern);
  const classes = count(UNICODE_CLASS);
  const perClass = isFolded
    ? (classes + count(NEGATED)) * WORK.perFoldedClass
    : classes * WORK.perUnicodeClass;
  return WORK.perChar * (pattern.length + program) + WORK.perBranch * count(BRANCHES) + perClass;
}
