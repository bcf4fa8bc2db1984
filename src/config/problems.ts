import { redactShapes } from "../redaction/redact";
import { MAX_PROBLEMS } from "./limits";
import { type Feature, type NeedId, refusalOf, SERVED, type Served } from "./needs";

/** Stable names of what can be wrong with a config; clients match on them. `not_served` is a refusal: right, but not here. */
export type ProblemCode =
  | "syntax"
  | "too_large"
  | "too_deep"
  | "unknown_key"
  | "old_keyword"
  | "not_served"
  | "missing"
  | "model_unknown"
  | "wrong_type"
  | "out_of_range"
  | "not_allowed"
  | "duplicate"
  | "base_url_refused"
  | "key_not_set"
  | "key_unknown"
  | "key_bound_elsewhere"
  | "key_not_kept"
  | "no_effect"
  | "no_key"
  | "price_unknown"
  | "research_calls";

/** Where something stands: keys and indexes from the root. */
export type Path = readonly (string | number)[];

/**
 * One thing to tell whoever wrote the config. Line and column count from 1; null where the config came as data, not as text.
 * `need` names the feature that a refusal is about, where it is about one.
 */
export type ConfigProblem = {
  code: ProblemCode;
  pointer: string;
  line: number | null;
  column: number | null;
  detail: string;
  need?: string;
};

/** Finds the place of a key, or of its value, in the text. */
export type Locate = (
  path: Path,
  target: "key" | "value",
) => { line: number; column: number } | null;

/** RFC 6901. */
export function toPointer(path: Path): string {
  return path
    .map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}

/**
 * Something right that is not here. Whatever has the same `need` is one refusal, at the first of their places in the text. `subject` is what asks
 * for it (a key, a server, an address); `say` makes the words of all subjects, if the table of needs has none.
 */
export type Refusal = { path: Path; target?: "key" | "value"; subject: string } & (
  | { need: NeedId }
  | { need: string; code?: ProblemCode; say: (subjects: readonly string[]) => string }
);

/** Needs that are told with another one, where that is there too. */
const WITHIN: Readonly<Record<string, NeedId>> = { container_settings: "shell_docker" };

/** Collects what is found while a config is read, so that one answer names everything at once. */
export class Findings {
  readonly errors: ConfigProblem[] = [];
  readonly warnings: ConfigProblem[] = [];
  readonly #refusals = new Map<string, Refusal[]>();

  constructor(
    private readonly locate: Locate,
    private readonly served: Served = SERVED,
    private readonly attached: readonly string[] = [],
  ) {}

  /** Whether something of this name comes with the question. */
  isAttached(name: string): boolean {
    return this.served.uploads && this.attached.includes(name);
  }

  /** Whether sessions have this feature. */
  serves(feature: Feature): boolean {
    return this.served[feature];
  }

  /** What stands here is a mistake. */
  error(code: ProblemCode, path: Path, detail: string, target: "key" | "value" = "value"): void {
    if (this.errors.length < MAX_PROBLEMS)
      this.errors.push(this.#problem(code, path, detail, target));
  }

  /** What stands here runs, but not as its author may think. */
  warn(code: ProblemCode, path: Path, detail: string, target: "key" | "value" = "value"): void {
    if (this.warnings.length < MAX_PROBLEMS)
      this.warnings.push(this.#problem(code, path, detail, target));
  }

  /** The same, said once for a config, however many agents it holds for. */
  warnOnce(code: ProblemCode, path: Path, detail: string, target: "key" | "value" = "value"): void {
    if (!this.warnings.some((known) => known.code === code && known.detail === detail))
      this.warn(code, path, detail, target);
  }

  /** What stands here is right, and cannot be run by this service. Nothing, where the need is a feature that is served. */
  refuse(refusal: Refusal): void {
    if (
      Object.entries(this.served).some(
        ([feature, isServed]) => feature === refusal.need && isServed,
      )
    )
      return;
    const known = this.#refusals.get(refusal.need);
    if (known) known.push(refusal);
    else if (this.#refusals.size < MAX_PROBLEMS) this.#refusals.set(refusal.need, [refusal]);
  }

  /** One for each need. */
  get refusals(): ConfigProblem[] {
    const needed = [...this.#refusals].filter(([need]) => !this.#refusals.has(WITHIN[need] ?? ""));
    return needed.flatMap(([, all]) => this.#refusal(this.#asWritten(all)) ?? []);
  }

  #refusal(all: readonly Refusal[]): ConfigProblem | undefined {
    const [first] = all;
    if (!first) return undefined;
    const subjects = [...new Set(all.map(({ subject }) => subject))];
    const detail = "say" in first ? first.say(subjects) : refusalOf(first.need, subjects);
    const code = "say" in first ? first.code : undefined;
    return {
      ...this.#problem(code ?? "not_served", first.path, detail, first.target ?? "key"),
      need: first.need,
    };
  }

  /** Sections are read in another order than they are written. A place costs a walk through the text, so only the first are sorted. */
  #asWritten(all: readonly Refusal[]): Refusal[] {
    const placed = all.slice(0, MAX_PROBLEMS).map((refusal) => {
      const place = this.locate(refusal.path, refusal.target ?? "key");
      return { refusal, line: place?.line ?? 0, column: place?.column ?? 0 };
    });
    const sorted = placed.sort((a, b) => a.line - b.line || a.column - b.column);
    return [...sorted.map(({ refusal }) => refusal), ...all.slice(MAX_PROBLEMS)];
  }

  #problem(code: ProblemCode, path: Path, detail: string, target: "key" | "value"): ConfigProblem {
    const place = this.locate(path, target);
    return {
      code,
      pointer: toPointer(path),
      line: place?.line ?? null,
      column: place?.column ?? null,
      detail,
    };
  }
}

/**
 * As they are told: in the order of the text (what has no place keeps the order in which it was found), and without what is shaped
 * like a key, for words about a config repeat parts of it.
 */
export function asTold(problems: readonly ConfigProblem[]): ConfigProblem[] {
  const clean = problems.map((problem) => ({
    ...problem,
    pointer: redactShapes(problem.pointer),
    detail: redactShapes(problem.detail),
  }));
  return clean.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

const MAX_SHOWN = 60;

/** What a client wrote, short and on one line. */
export function cut(written: string): string {
  const line = written.replaceAll(/\p{Cc}+/gu, " ").trim();
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN).toWellFormed()}…` : line;
}
