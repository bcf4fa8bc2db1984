import { Lexer, LineCounter } from "yaml";
import { parseBounded } from "./bounded-yaml";
import {
  MAX_ALIASES,
  MAX_CONFIG_CHARS,
  MAX_DEPTH,
  MAX_INDENT,
  MAX_PROBLEMS,
  MAX_YAML_TOKENS,
} from "./config-limits";
import { lastAlias, locateIn } from "./locate";
import type { ConfigProblem, Locate, ProblemCode } from "./problems";
import { forbiddenCharacter, syntaxProblems } from "./syntax";

/**
 * `root` consists of scalars, arrays and `Map`s. Objects become `Map`s, because the keys of a
 * config must not change a prototype.
 */
type SourceResult =
  | { ok: true; root: unknown; locate: Locate }
  | { ok: false; errors: ConfigProblem[] };

/**
 * Reads a config from YAML text or a JSON object. Checks the size and the nesting of a text before
 * it is parsed.
 */
export function readSource(source: unknown): SourceResult {
  return typeof source === "string" ? readYaml(source) : readObject(source);
}

const YAML_OPTIONS = {
  schema: "core",
  merge: false,
  strict: true,
  // The package compares every key with every other key. `syntaxProblems` needs only one pass.
  uniqueKeys: false,
  // Makes `!!binary` and `!!omap` unknown tags, like `!!js/function`.
  resolveKnownTags: false,
  prettyErrors: false,
  logLevel: "error",
} as const;

function readYaml(source: string): SourceResult {
  if (source.length > MAX_CONFIG_CHARS)
    return failed(
      "too_large",
      `The config has ${source.length} characters; the limit is ${MAX_CONFIG_CHARS}.`,
    );
  // In YAML, a CR without LF also ends a line. The parser supports only LF and CR LF.
  const text = source.replaceAll(/\r(?!\n)/g, "\n");
  const excess = findExcess(text);
  if (excess) return failed(excess.code, excess.detail, { line: excess.line, column: 1 });

  const forbidden = forbiddenCharacter(text);
  if (forbidden) return failed("syntax", forbidden.detail, placeOf(text, forbidden.offset));

  const lines = new LineCounter();
  const { doc, problems } = parseBounded(text, {
    lines,
    maxProblems: MAX_PROBLEMS,
    options: YAML_OPTIONS,
  });
  const errors = syntaxProblems(doc, { problems, text }).map(({ offset, detail }) =>
    problem("syntax", detail, placeIn(lines, offset)),
  );
  if (errors.length > 0 || !doc)
    return { ok: false, errors: firstOfEachLine(errors).slice(0, MAX_PROBLEMS) };
  try {
    const root: unknown = doc.toJS({ mapAsMap: true, maxAliasCount: MAX_ALIASES });
    return toResult(root, locateIn(doc, lines));
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return failed(
      "syntax",
      `The config has more than ${MAX_ALIASES} aliases.`,
      lastAlias(doc, lines),
    );
  }
}

function readObject(source: unknown): SourceResult {
  return toResult(source, () => null);
}

function toResult(value: unknown, locate: Locate): SourceResult {
  const root = toMaps(value, 0);
  if (root === TOO_DEEP) return failed("too_deep", `Nested deeper than ${MAX_DEPTH} levels.`);
  return { ok: true, root, locate };
}

const TOO_DEEP = Symbol("too deep");

/** The same data with Maps in place of objects. Stops at the depth limit, also for cyclic data. */
function toMaps(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return TOO_DEEP;
  if (Array.isArray(value)) {
    const items = value.map((item) => toMaps(item, depth + 1));
    return items.includes(TOO_DEEP) ? TOO_DEEP : items;
  }
  const entries = [...(value instanceof Map ? value : Object.entries(value))].map(
    ([key, item]) => [key, toMaps(item, depth + 1)] as const,
  );
  return entries.some(([, item]) => item === TOO_DEEP) ? TOO_DEEP : new Map(entries);
}

type Excess = { code: ProblemCode; detail: string; line: number };

/**
 * The first line on which the nesting or the number of tokens exceeds a limit; `null` if there is
 * none. Splits the text into tokens, but does not parse it: the parser is recursive, and takes some
 * microseconds per token.
 */
function findExcess(text: string): Excess | null {
  let [line, brackets, indent, tokens] = [1, 0, 0, 0];
  for (const token of new Lexer().lex(text)) {
    if (token === "[" || token === "{") brackets += 1;
    else if (token === "]" || token === "}") brackets -= 1;
    else if (token === "-" || token === "?") indent += 2;
    else if (indent === 0 && /^ +$/.test(token)) indent = token.length;
    if (brackets > MAX_DEPTH || indent > MAX_INDENT)
      return { code: "too_deep", detail: `Nested deeper than ${MAX_DEPTH} levels.`, line };
    if (++tokens > MAX_YAML_TOKENS)
      return {
        code: "too_large",
        detail: `The config has more than ${MAX_YAML_TOKENS} YAML tokens.`,
        line,
      };
    const lineEnds = token.split("\n").length - 1;
    line += lineEnds;
    if (lineEnds > 0) indent = 0;
  }
  return null;
}

type Place = { line: number; column: number };

function failed(code: ProblemCode, detail: string, place?: Place): SourceResult {
  return { ok: false, errors: [problem(code, detail, place)] };
}

function problem(code: ProblemCode, detail: string, place?: Place): ConfigProblem {
  return { code, pointer: "", line: place?.line ?? null, column: place?.column ?? null, detail };
}

const placeIn = (lines: LineCounter, offset: number): Place => {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
};

/** The position of an offset in a text that is not parsed yet. */
function placeOf(text: string, offset: number): Place {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** The first problem of each line. Further problems of a line usually have the same cause. */
function firstOfEachLine(problems: readonly ConfigProblem[]): ConfigProblem[] {
  const first = new Map<number | null, ConfigProblem>();
  for (const problem of problems) if (!first.has(problem.line)) first.set(problem.line, problem);
  return [...first.values()];
}
