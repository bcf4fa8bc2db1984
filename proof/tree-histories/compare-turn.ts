import { sha256 } from "../../local/sha256";
import { type PredictedTurn, withPartialText } from "./predict-turn";
import type { Files, Turn } from "./state";
import type { AskedTurn } from "./world";

/** A difference between the world and the model. */
export class Mismatch extends Error {}

/** Compares a turn with its prediction. Returns the turn, with the text so far if it has one. */
export function checkTurn({ turn, stalled }: PredictedTurn, asked: AskedTurn): Turn {
  const { status } = turn;
  expectSame("the turn", resultOf(asked), resultOf(turn));
  const isCompleted = status === "completed";
  const { workspace, context } = turn.end;
  const hashes = [...workspace].map(([path, text]) => [path, sha256(text)]);
  const changes = [...context]
    .filter(([path, text]) => turn.uploaded.get(path) !== text)
    .map(([path, text]) => [path, sha256(text)]);
  expectSame("its files", sorted(asked.hashes), isCompleted ? hashes.sort() : null);
  const effective = asked.changes && withoutEqual(asked.changes, turn.uploaded);
  expectSame("its changes", sorted(effective), isCompleted ? changes.sort() : null);
  if (stalled === null) return turn;
  expectSame("a move during the turn", asked.moveDuringTurn, "turn_running");
  const partial = asked.partial ?? "";
  if (partial === "" || !stalled.startsWith(partial))
    throw new Mismatch(`the text so far is ${JSON.stringify(partial)}, of ${stalled}`);
  return withPartialText(turn, partial);
}

/** What a turn has in the tree, and its answer. */
export const resultOf = ({
  number,
  parent,
  status,
  answer,
}: Pick<AskedTurn, "number" | "parent" | "status" | "answer">) => ({
  ...{ number, parent, status, answer },
});
export const sorted = <Value>(
  entries: ReadonlyMap<string, Value> | null,
): [string, Value][] | null => entries && [...entries].sort();

/**
 * The changes that differ from the user's version. If the session was loaded again in the middle of
 * a presentation, a turn also lists files that equal the version (decision 0100).
 */
const withoutEqual = (changes: ReadonlyMap<string, string | null>, version: Files) =>
  new Map(
    [...changes].filter(([path, hash]) => {
      const text = version.get(path);
      return hash !== (text === undefined ? null : sha256(text));
    }),
  );

export function expectSame(what: string, found: unknown, expected: unknown): void {
  const texts = [found, expected].map((value) => JSON.stringify(value));
  if (texts[0] !== texts[1]) throw new Mismatch(`${what}: ${texts[0]}, expected ${texts[1]}`);
}
