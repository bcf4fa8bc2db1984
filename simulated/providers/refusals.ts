import { type Json, RequestRefusal } from "./dialect";
import type { Failure } from "./reply";

/** Refuses the first field that is in none of these sets. */
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

/** A problem of tool results: each call must have exactly one result, and each result a call. */
export type ResultProblem = { kind: "missing" | "doubled" | "unasked"; id: string };

export function resultProblem(
  calls: readonly string[],
  results: readonly string[],
): ResultProblem | null {
  const missing = calls.find((id) => !results.includes(id));
  if (missing !== undefined) return { kind: "missing", id: missing };
  const unasked = results.find((id) => !calls.includes(id));
  if (unasked !== undefined) return { kind: "unasked", id: unasked };
  const times = (ids: readonly string[], id: string) => ids.filter((one) => one === id).length;
  const doubled = results.find((id) => times(results, id) > times(calls, id));
  return doubled === undefined ? null : { kind: "doubled", id: doubled };
}
