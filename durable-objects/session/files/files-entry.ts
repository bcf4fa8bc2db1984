import {
  agentAt,
  filesRound,
  indexOf,
  runningTurn,
  type Step,
  type TurnState,
} from "../../../src/coordination";
import type { ResultFile } from "../../../src/engine/ports";
import { isTerminal } from "../../../src/protocol/events";
import type { StagedChanges } from "../../../src/workspace/agent-files";
import type { Tree } from "../../../src/workspace/types";
import type { RoundPlace } from "../calls/call-store";
import type { ChangeSet } from "./context-changes";
import type { ContextEdits } from "./round-changes";
import type { SnapshotPlace } from "./snapshot-store";

/** What one decision writes to the session's files, and the small facts from which that follows. */

export type FrozenTree = { place: SnapshotPlace; tree: Tree; at: number };
export type RoundEdit = {
  place: RoundPlace;
  staged: StagedChanges;
  edits: ContextEdits;
  isKnown: (path: string) => boolean;
};
/** What is decided and not written yet: an answer may be given and presented in one decision. */
export type PendingFiles = {
  changed: RoundEdit | null;
  frozen: readonly FrozenTree[];
  finalText: ResultFile | null;
};
export const NOTHING_PENDING: PendingFiles = { changed: null, frozen: [], finalText: null };

/** What one decision means for the session's files; written in the transaction of its events. */
export type FilesEntry = {
  changed: RoundEdit | null;
  /** What goes to R2 of a result, each as a whole. */
  results: readonly PlacedResult[];
  frozen: readonly FrozenTree[];
  /** A final text that is too long to be shown whole; null: there is none. */
  finalText: ResultFile | null;
  /** What a final text's presenter made of contexts; null: there is no new final text. */
  presented: { turn: number; sets: readonly ChangeSet[] } | null;
  ended: EndedTurn | null;
};

/** `hasChanges`: what it made of contexts can be had. `hasContexts`: it may have been given some. */
export type EndedTurn = { turn: number; hasChanges: boolean; hasContexts: boolean };

export type PlacedResult = { place: RoundPlace; result: ResultFile };

/** The turn that these steps end; `null` if they end none. */
export function endedBy(steps: readonly Step[]): EndedTurn | null {
  const end = steps.find(({ event }) => isTerminal(event.type));
  if (!end) return null;
  const { event, before } = end;
  const contexts = runningTurn(before)?.contexts ?? [];
  return {
    turn: event.turn,
    hasChanges: event.type === "turn.completed",
    hasContexts: contexts.length > 0,
  };
}

export const contentsOf = (results: readonly ResultFile[]): ReadonlyMap<string, Uint8Array> =>
  new Map(results.map(({ hash, bytes }) => [hash, bytes]));

/** Agents by their place in the team, as in labels: their own ids may hold anything. */
export const resultName = ({
  place: { turn, attempt, agent, round },
  result,
}: PlacedResult): string => `${turn}/${attempt}/agent${agent + 1}/${round}/${result.name}`;

export const placeOf = (turn: TurnState, agent: number): RoundPlace => ({
  turn: turn.number,
  attempt: turn.attempt.number,
  agent,
  round: filesRound(agentAt(turn.attempt, agent)),
});

export const isOf = (
  changed: RoundEdit | null,
  { agent, round }: RoundPlace,
): changed is RoundEdit => changed?.place.agent === agent && changed.place.round === round;

export const inRound = (
  turn: TurnState,
  { agent, attempt, round }: { agent: string; attempt: number; round: number },
): RoundPlace => ({
  turn: turn.number,
  attempt,
  agent: indexOf(turn, agent),
  round,
});

/** The files that go with a final text, with the file of the whole text. Throws where an event names a text that did not come with it. */
export function withTextFile(tree: Tree, path: string | undefined, text: ResultFile | null): Tree {
  if (path === undefined) return tree;
  if (!text) throw new Error("the whole final text did not come with its reply");
  return new Map([...tree, [path, { hash: text.hash, size: text.bytes.byteLength }]]);
}
