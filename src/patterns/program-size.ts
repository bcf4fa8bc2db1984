/**
 * How large the compiled program of a pattern can become, from its text alone: `((a{10}){10}){10}`
 * is short and its program is not, and compiling it is the first cost. Never less than the real
 * size of a valid pattern; of an invalid pattern any number.
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
    if (sizeOf(group) > ENOUGH) return ENOUGH;
  }
  return open.reduce((sum, group) => sum + sizeOf(group), ENDS);
}

/**
 * Instructions of a group: of what comes before its last part, and of its last part, which a repeat
 * would multiply.
 */
type Group = { before: number; last: number };

/**
 * An escape, an escaped class, a class of characters, the beginning of a group, a repeat, or one
 * character.
 */
const TOKENS =
  /\\[pP]\{[^}]*\}|\\x\{[^}]*\}|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:[^\]]*:\]|[^\]\\])*\]|\((?:\?P?<[^>]*>|\?[a-zA-Z-]*:)?|\{\d+(?:,\d*)?\}|[\s\S]/gu;
/** Start and end of a capture. */
const GROUP = 2;
/** Start and end of every program. */
const ENDS = 4;
/** Beyond this the exact size does not matter. */
const ENOUGH = 10_000_000;

type Repeat = { least: number; most: number };

function repeatOf(token: string): Repeat | null {
  if (token === "*" || token === "+" || token === "?") return { least: 1, most: 1 };
  const counts = /^\{(\d+)(,(\d*))?\}$/.exec(token);
  if (!counts) return null;
  const least = Number(counts[1]);
  const most = counts[2] === undefined ? least : counts[3] === "" ? least + 1 : Number(counts[3]);
  return { least, most: Math.max(least, most) };
}

/** Each copy that may be left out takes a branch of its own. */
const repeated = (size: number, { least, most }: Repeat): number =>
  Math.min(ENOUGH, Math.max(1, most) * size + Math.max(1, most - least));

function add(group: Group, size: number): void {
  group.before += group.last;
  group.last = size;
}

const sizeOf = ({ before, last }: Group): number => before + last;

/** Classes with many characters, and ranges beyond ASCII: each takes long to compile. */
const UNICODE_CLASS = /\\[pP]|-(?:[^\0-\x7f]|\\x\{)/gu;
const BRANCHES = /[(|]/g;
const FOLDED = /\(\?[a-zA-Z]*i/;
const NEGATED = /\[\^/g;
const WORK = { perChar: 30, perBranch: 500, perUnicodeClass: 50_000, perFoldedClass: 250_000 };

/** The work of compiling a pattern, in units of matching; measured, and rounded up. */
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
