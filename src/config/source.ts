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
 * Converts YAML text or a JSON object to one form: scalars, arrays, and `Map`s, which have no
 * prototype to pollute. Limits are checked first, so that the parser receives nothing large or
 * deep.
 */
type SourceResult =
  | { ok: true; root: unknown; locate: Locate }
  | { ok: false; errors: ConfigProblem[] };

export function readSource(source: unknown): SourceResult {
  return typeof source === "string" ? readYaml(source) : readObject(source);
}

const YAML_OPTIONS = {
  schema: "core",
  merge: false,
  strict: true,
  // The package compares every key with every other; `syntaxProblems` checks in one pass.
  uniqueKeys: false,
  // Makes `!!binary` and `!!omap` unknown tags, like `!!js/function`.
  resolveKnownTags: false,
  prettyErrors: false,
  logLevel: "error",
} as const;

function readYaml(written: string): SourceResult {
  if (written.length > MAX_CONFIG_CHARS)
    return refused(
      "too_large",
      `The config has ${written.length} characters; the limit is ${MAX_CONFIG_CHARS}.`,
    );
  // In YAML, a lone CR ends a line, as in old editors; the parser supports only the other two.
  const text = written.replaceAll(/\r(?!\n)/g, "\n");
  const excess = excessOf(text);
  if (excess) return refused(excess.code, excess.detail, { line: excess.line, column: 1 });

  const forbidden = forbiddenCharacter(text);
  if (forbidden) return refused("syntax", forbidden.detail, placeOf(text, forbidden.offset));

  const lines = new LineCounter();
  const { doc, problems } = parseBounded(text, {
    lines,
    mostProblems: MAX_PROBLEMS,
    options: YAML_OPTIONS,
  });
  const complaints = syntaxProblems(doc, { problems, text }).map(({ offset, detail }) =>
    problem("syntax", detail, placeIn(lines, offset)),
  );
  if (complaints.length > 0 || !doc)
    return { ok: false, errors: oneForALine(complaints).slice(0, MAX_PROBLEMS) };
  try {
    const root: unknown = doc.toJS({ mapAsMap: true, maxAliasCount: MAX_ALIASES });
    return bounded(root, locateIn(doc, lines));
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return refused(
      "syntax",
      `The config has more than ${MAX_ALIASES} aliases.`,
      lastAlias(doc, lines),
    );
  }
}

function readObject(source: unknown): SourceResult {
  return bounded(source, () => null);
}

function bounded(value: unknown, locate: Locate): SourceResult {
  const root = toMaps(value, 0);
  if (root === TOO_DEEP) return refused("too_deep", `Nested deeper than ${MAX_DEPTH} levels.`);
  return { ok: true, root, locate };
}

const TOO_DEEP = Symbol("too deep");

/** The same data with objects as Maps. Stops at the depth limit, which also ends cycles. */
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
 * The first line on which nesting or the number of tokens exceeds the limits, by tokens alone: the
 * parser is recursive and takes some microseconds per token.
 */
function excessOf(text: string): Excess | null {
  let [line, flow, indent, tokens] = [1, 0, 0, 0];
  for (const token of new Lexer().lex(text)) {
    if (token === "[" || token === "{") flow += 1;
    else if (token === "]" || token === "}") flow -= 1;
    else if (token === "-" || token === "?") indent += 2;
    else if (indent === 0 && /^ +$/.test(token)) indent = token.length;
    if (flow > MAX_DEPTH || indent > MAX_INDENT)
      return { code: "too_deep", detail: `Nested deeper than ${MAX_DEPTH} levels.`, line };
    if (++tokens > MAX_YAML_TOKENS)
      return {
        code: "too_large",
        detail: `The config has more than ${MAX_YAML_TOKENS} YAML tokens.`,
        line,
      };
    const breaks = token.split("\n").length - 1;
    line += breaks;
    if (breaks > 0) indent = 0;
  }
  return null;
}

type Place = { line: number; column: number };

function refused(code: ProblemCode, detail: string, place?: Place): SourceResult {
  return { ok: false, errors: [problem(code, detail, place)] };
}

function problem(code: ProblemCode, detail: string, place?: Place): ConfigProblem {
  return { code, pointer: "", line: place?.line ?? null, column: place?.column ?? null, detail };
}

const placeIn = (lines: LineCounter, offset: number): Place => {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
};

/** Position of an offset, before parsing. */
function placeOf(text: string, offset: number): Place {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** Further problems on a line usually have the same cause. */
function oneForALine(problems: readonly ConfigProblem[]): ConfigProblem[] {
  const first = new Map<number | null, ConfigProblem>();
  for (const problem of problems) if (!first.has(problem.line)) first.set(problem.line, problem);
  return [...first.values()];
}
