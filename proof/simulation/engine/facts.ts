import { sha256 } from "../../../local/sha256";
import { toJson } from "../../../durable-objects/session/streams/frames";
import { SESSION } from "./engine-situation";
import type { RunRecord } from "./run-record";

/** Fields of events whose texts are for people and may change: `docs/explain/protocol.md`. */
const TEXTS: ReadonlySet<string> = new Set(["message", "problem", "why"]);

/** A row's JSON without its texts for people, on any level. Other values remain. */
export const withoutTexts = (json: string): string =>
  JSON.stringify(JSON.parse(json), (name, value) =>
    TEXTS.has(name) && typeof value === "string" ? undefined : value,
  );

const hashOf = (lines: readonly string[]): string => sha256(lines.join("\n")).slice(0, 16);

/**
 * `bytes`: hash of the log as clients receive it, deltas included. `facts`: the same without texts
 * for people, so that it stays equal when a message is reworded.
 */
export function hashesOf({ rows }: RunRecord): { bytes: string; facts: string } {
  const lines = rows.map((row) => toJson(row, SESSION));
  return { bytes: hashOf(lines), facts: hashOf(lines.map(withoutTexts)) };
}
