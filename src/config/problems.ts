import { MAX_PROBLEMS } from "./limits";

/** Stable names of what can be wrong with a config; clients match on them. `not_served` is a refusal: right, but not here. */
export type ProblemCode =
  | "syntax"
  | "too_large"
  | "too_deep"
  | "unknown_key"
  | "old_keyword"
  | "not_served"
  | "missing"
  | "wrong_type"
  | "out_of_range"
  | "not_allowed"
  | "duplicate"
  | "base_url_refused"
  | "key_not_set"
  | "key_unknown"
  | "key_bound_elsewhere"
  | "no_effect"
  | "no_key"
  | "price_unknown"
  | "research_calls";

/** Where something stands: keys and indexes from the root. */
export type Path = readonly (string | number)[];

/** One thing to tell whoever wrote the config. Line and column count from 1; null where the config came as data, not as text. */
export type ConfigProblem = { code: ProblemCode; pointer: string; line: number | null; column: number | null; detail: string };

/** Finds the place of a key, or of its value, in the text. */
export type Locate = (path: Path, target: "key" | "value") => { line: number; column: number } | null;

/** RFC 6901. */
export function toPointer(path: Path): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Collects what is found while a config is read, so that one answer names everything at once. */
export class Findings {
  readonly errors: ConfigProblem[] = [];
  readonly warnings: ConfigProblem[] = [];

  constructor(private readonly locate: Locate) {}

  /** What stands here cannot be run. */
  error(code: ProblemCode, path: Path, detail: string, target: "key" | "value" = "value"): void {
    if (this.errors.length < MAX_PROBLEMS) this.errors.push(this.#problem(code, path, detail, target));
  }

  /** What stands here runs, but not as its author may think. */
  warn(code: ProblemCode, path: Path, detail: string, target: "key" | "value" = "value"): void {
    if (this.warnings.length < MAX_PROBLEMS) this.warnings.push(this.#problem(code, path, detail, target));
  }

  #problem(code: ProblemCode, path: Path, detail: string, target: "key" | "value"): ConfigProblem {
    const place = this.locate(path, target);
    return { code, pointer: toPointer(path), line: place?.line ?? null, column: place?.column ?? null, detail };
  }
}

/** In the order of the text; what has no place keeps the order in which it was found. */
export function inTextOrder(problems: readonly ConfigProblem[]): ConfigProblem[] {
  return [...problems].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}
