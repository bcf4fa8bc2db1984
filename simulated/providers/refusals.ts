import { type Json, RequestRefusal } from "./dialect";
import type { Failure } from "./reply";

/** Throws a `RequestRefusal` for the first field of `body` that is in none of the `known` sets. */
export function onlyKnown(
  body: Json,
  known: readonly ReadonlySet<string>[],
  failureOf: (field: string) => Failure,
): void {
  const unknown = Object.keys(body).find((field) => !known.some((fields) => fields.has(field)));
  if (unknown !== undefined) throw new RequestRefusal(failureOf(unknown));
}

export const NOTHING: ReadonlySet<string> = new Set();

/** The set of words in a text. */
export const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/**
 * A violation of the rule that each tool call has exactly one result. `missing`: a call without a
 * result. `duplicate`: a second result of a call. `unrequested`: a result without a call.
 */
export type ResultProblem = { kind: "missing" | "duplicate" | "unrequested"; id: string };

/** Compares the ids of calls and results. Returns `null` if there is no problem. */
export function resultProblem(
  calls: readonly string[],
  results: readonly string[],
): ResultProblem | null {
  const missing = calls.find((id) => !results.includes(id));
  if (missing !== undefined) return { kind: "missing", id: missing };
  const unrequested = results.find((id) => !calls.includes(id));
  if (unrequested !== undefined) return { kind: "unrequested", id: unrequested };
  const countOf = (id: string, ids: readonly string[]) =>
    ids.filter((other) => other === id).length;
  const duplicate = results.find((id) => countOf(id, results) > countOf(id, calls));
  return duplicate === undefined ? null : { kind: "duplicate", id: duplicate };
}
