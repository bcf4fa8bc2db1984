import { Lexer, LineCounter, parseDocument } from "yaml";
import { MAX_ALIASES, MAX_CONFIG_CHARS, MAX_DEPTH, MAX_INDENT } from "./limits";
import { lastAlias, locateIn } from "./locate";
import type { ConfigProblem, Locate, ProblemCode } from "./problems";

/**
 * Turns what a client sent, YAML text or a JSON object, into one shape: scalars, arrays, and `Map`s, which have no prototype to
 * pollute. Bounds come first: nothing large or deep reaches the parser.
 */
export type SourceResult = { ok: true; root: unknown; locate: Locate } | { ok: false; errors: ConfigProblem[] };

export function readSource(source: unknown): SourceResult {
  return typeof source === "string" ? readYaml(source) : readObject(source);
}

function readYaml(text: string): SourceResult {
  if (text.length > MAX_CONFIG_CHARS)
    return refused("too_large", `A config may have ${MAX_CONFIG_CHARS} characters; this has ${text.length}.`);
  const deepLine = tooDeepAt(text);
  if (deepLine !== null) return refused("too_deep", `Nested deeper than ${MAX_DEPTH} levels.`, { line: deepLine, column: 1 });

  const lines = new LineCounter();
  const doc = parseDocument(text, {
    lineCounter: lines,
    schema: "core",
    merge: false,
    strict: true,
    uniqueKeys: true,
    // Without them, `!!binary` or `!!omap` is a tag nobody knows, like `!!js/function`.
    resolveKnownTags: false,
    logLevel: "error",
  });
  // A warning is a tag beyond the core schema (`!!binary`, `!!js/function`): nothing a config needs.
  const complaints = [...doc.errors, ...doc.warnings].map(({ message, pos }) => {
    const { line, col } = lines.linePos(pos[0]);
    return problem("syntax", firstLine(message), { line, column: col });
  });
  if (complaints.length > 0) return { ok: false, errors: complaints };
  try {
    const root: unknown = doc.toJS({ mapAsMap: true, maxAliasCount: MAX_ALIASES });
    return bounded(root, locateIn(doc, lines));
  } catch (error) {
    // The parser's words for too many aliases, and for one without an anchor before it.
    if (!(error instanceof ReferenceError)) throw error;
    const detail = `Aliases: ${firstLine(error.message)}. At most ${MAX_ALIASES} are resolved.`;
    return refused("syntax", detail, lastAlias(doc, lines));
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

/** The same data with every object as a Map. Stops at the depth limit, so that a cycle ends too. */
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

/** The first line on which nesting may exceed the bounds, by tokens alone: the parser itself recurses. */
function tooDeepAt(text: string): number | null {
  let [line, flow, indent] = [1, 0, 0];
  for (const token of new Lexer().lex(text)) {
    if (token === "[" || token === "{") flow += 1;
    else if (token === "]" || token === "}") flow -= 1;
    else if (token === "-" || token === "?") indent += 2;
    else if (/^ +$/.test(token) && indent === 0) indent = token.length;
    if (flow > MAX_DEPTH || indent > MAX_INDENT) return line;
    const breaks = token.split("\n").length - 1;
    line += breaks;
    if (breaks > 0) indent = 0;
  }
  return null;
}

function refused(code: ProblemCode, detail: string, place?: { line: number; column: number }): SourceResult {
  return { ok: false, errors: [problem(code, detail, place)] };
}

function problem(code: ProblemCode, detail: string, place?: { line: number; column: number }): ConfigProblem {
  return { code, pointer: "", line: place?.line ?? null, column: place?.column ?? null, detail };
}

function firstLine(message: string): string {
  return message.split(/ at line \d|:?\n/)[0] ?? message;
}
