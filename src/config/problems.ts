import { redactShapes } from "../redaction/redact";
import { MAX_PROBLEMS } from "./config-limits";
import { type Feature, type NeedId, refusalOf, SERVED, type Features } from "./needs";

/**
 * Codes of config problems. They never change, because clients match on them. `not_served` refuses
 * a valid setting that the service does not support.
 */
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

/** A position in the config: keys and indexes from the root. */
export type Path = readonly (string | number)[];

/**
 * A problem for the author of the config. `pointer` is a JSON Pointer. Line and column count from
 * 1; both are `null` if the config was sent as JSON. `need` is the missing feature of a refusal;
 * other problems omit it.
 */
export type ConfigProblem = {
  code: ProblemCode;
  pointer: string;
  line: number | null;
  column: number | null;
  detail: string;
  need?: string;
};

/** Finds the position of a key or of its value in the YAML text; `null` for a JSON object. */
export type Locate = (
  path: Path,
  target: "key" | "value",
) => { line: number; column: number } | null;

/** Converts a path to a JSON Pointer (RFC 6901). */
export function toPointer(path: Path): string {
  return path
    .map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}

/**
 * A valid but unsupported setting. All settings with the same `need` are reported as one problem,
 * at the first of their positions. `subject` names the setting (a key, a server, an address). `say`
 * returns the text for all subjects; it is required if `NEEDS` has no text for the need.
 */
export type Refusal = { path: Path; target?: "key" | "value"; subject: string } & (
  | { need: NeedId }
  | { need: string; code?: ProblemCode; say: (subjects: readonly string[]) => string }
);

/** Needs that are not reported if the other need is reported. */
const INCLUDED_IN: Readonly<Record<string, NeedId>> = { container_settings: "shell_docker" };

/** Collects problems while a config is read, so that one response reports all. */
export class Findings {
  readonly errors: ConfigProblem[] = [];
  readonly warnings: ConfigProblem[] = [];
  readonly #refusals = new Map<string, Refusal[]>();

  constructor(
    private readonly locate: Locate,
    private readonly served: Features = SERVED,
    private readonly attached: readonly string[] = [],
  ) {}

  /** Whether the question has an attachment of this name. */
  isAttached(name: string): boolean {
    return this.served.uploads && this.attached.includes(name);
  }

  /** Whether sessions support this feature. */
  serves(feature: Feature): boolean {
    return this.served[feature];
  }

  /** Reports a mistake at this position. */
  error(code: ProblemCode, path: Path, detail: string, target: "key" | "value" = "value"): void {
    if (this.errors.length < MAX_PROBLEMS)
      this.errors.push(this.#problem(code, path, detail, target));
  }

  /** Reports a setting that works, but perhaps not as intended. */
  warn(code: ProblemCode, path: Path, detail: string, target: "key" | "value" = "value"): void {
    if (this.warnings.length < MAX_PROBLEMS)
      this.warnings.push(this.#problem(code, path, detail, target));
  }

  /** Reports a warning once per config, even if it applies to several agents. */
  warnOnce(code: ProblemCode, path: Path, detail: string, target: "key" | "value" = "value"): void {
    if (!this.warnings.some((known) => known.code === code && known.detail === detail))
      this.warn(code, path, detail, target);
  }

  /**
   * Reports a valid setting that this service does not support. Does nothing if sessions support
   * the feature.
   */
  refuse(refusal: Refusal): void {
    if (
      Object.entries(this.served).some(
        ([feature, isServed]) => feature === refusal.need && isServed,
      )
    )
      return;
    const sameNeed = this.#refusals.get(refusal.need);
    if (sameNeed) sameNeed.push(refusal);
    else if (this.#refusals.size < MAX_PROBLEMS) this.#refusals.set(refusal.need, [refusal]);
  }

  /** One problem for each need. */
  get refusals(): ConfigProblem[] {
    const needed = [...this.#refusals].filter(
      ([need]) => !this.#refusals.has(INCLUDED_IN[need] ?? ""),
    );
    return needed.flatMap(([, all]) => this.#refusal(this.#inTextOrder(all)) ?? []);
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

  /**
   * Sorts refusals by position in the text; sections are read in another order. Finding a position
   * is slow, so only the first `MAX_PROBLEMS` refusals are sorted.
   */
  #inTextOrder(all: readonly Refusal[]): Refusal[] {
    const positions = all.slice(0, MAX_PROBLEMS).map((refusal) => {
      const place = this.locate(refusal.path, refusal.target ?? "key");
      return { refusal, line: place?.line ?? 0, column: place?.column ?? 0 };
    });
    const sorted = positions.sort((a, b) => a.line - b.line || a.column - b.column);
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
 * Prepares problems for a response. Sorts them by position in the text. Removes everything that
 * looks like a key, because messages quote the config.
 */
export function inReportForm(problems: readonly ConfigProblem[]): ConfigProblem[] {
  const clean = problems.map((problem) => ({
    ...problem,
    pointer: redactShapes(problem.pointer),
    detail: redactShapes(problem.detail),
  }));
  return clean.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

/** Maximum length of a quote, in UTF-16 units. */
const MAX_QUOTE = 60;

/** Shortens a text of the client to a quote on one line. */
export function shortQuote(text: string): string {
  const line = text.replaceAll(/\p{Cc}+/gu, " ").trim();
  return line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE).toWellFormed()}…` : line;
}
