import { sha256 } from "../../../local/sha256";
import { toJson } from "../../../durable-objects/session/streams/frames";
import { SESSION } from "./engine-situation";
import type { RunRecord } from "./run-record";

/** Fields with texts for people, which may change; see `docs/explain/protocol.md`. */
const TEXTS: ReadonlySet<string> = new Set(["message", "problem", "why"]);

/** Removes the texts for people from a row's JSON, also in nested objects. */
export const withoutTexts = (json: string): string =>
  JSON.stringify(JSON.parse(json), (name, value) =>
    TEXTS.has(name) && typeof value === "string" ? undefined : value,
  );

const hashOf = (lines: readonly string[]): string => sha256(lines.join("\n")).slice(0, 16);

/**
 * The hashes of a run's log. `bytes`: of the log as clients receive it, with deltas. `facts`: of
 * the log without texts for people, so that rewording a message does not change the hash.
 */
export function hashesOf({ rows }: RunRecord): { bytes: string; facts: string } {
  const lines = rows.map((row) => toJson(row, SESSION));
  return { bytes: hashOf(lines), facts: hashOf(lines.map(withoutTexts)) };
}
