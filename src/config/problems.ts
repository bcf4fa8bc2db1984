import { redactShapes } from "../redaction/redact";
import { MAX_PROBLEMS } from "./config-limits";
import { type Feature, type NeedId, refusalOf, SERVED, type Features } from "./needs";

/**
 * Codes of config problems. Stable: clients match on them. `not_served` is a refusal of a valid
 * setting.
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
 * A problem for the author of the config. Line and column count from 1; `null` if the config was
 * sent as JSON. `need` is the feature of a refusal; omitted otherwise.
 */
export type ConfigProblem = {
  code: ProblemCode;
  pointer: string;
  line: number | null;
  column: number | null;
  detail: string;
  need?: string;
};

/** Finds the position of a key or its value in the text. */
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
 * A valid but unsupported setting. Settings with the same `need` form one refusal, at their first
 * position. `subject` is the setting (a key, a server, an address). `say` makes the text for all
 * subjects, if the table of needs has none.
 */
export type Refusal = { path: Path; target?: "key" | "value"; subject: string } & (
  | { need: NeedId }
  | { need: string; code?: ProblemCode; say: (subjects: readonly string[]) => string }
);

/** Needs that are included in another refusal, if that exists. */
const WITHIN: Readonly<Record<string, NeedId>> = { container_settings: "shell_docker" };

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

  /** The same, once per config, even if it applies to several agents. */
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
    const known = this.#refusals.get(refusal.need);
    if (known) known.push(refusal);
    else if (this.#refusals.size < MAX_PROBLEMS) this.#refusals.set(refusal.need, [refusal]);
  }

  /** One per need. */
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

  /**
   * Sections are not read in written order. Finding a position takes a pass over the text, so only
   * the first are sorted.
   */
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
 * Problems in the order of the text; those without a position keep their order. Removes everything
 * that looks like a key, because messages quote the config.
 */
export function inReportForm(problems: readonly ConfigProblem[]): ConfigProblem[] {
  const clean = problems.map((problem) => ({
    ...problem,
    pointer: redactShapes(problem.pointer),
    detail: redactShapes(problem.detail),
  }));
  return clean.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

const MAX_SHOWN = 60;

/** A quote of the client's text, short and on one line. */
export function cut(written: string): string {
  const line = written.replaceAll(/\p{Cc}+/gu, " ").trim();
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN).toWellFormed()}…` : line;
}
