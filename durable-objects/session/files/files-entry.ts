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

/**
 * The file changes of one decision, and small functions that compute facts about them.
 */

/** A tree that an event freezes. `at`: time of the event, unix ms. */
export type FrozenTree = { place: SnapshotPlace; tree: Tree; at: number };
/**
 * The changes of a tool call (`staged`), and the round's changes to contexts after the call
 * (`edits`). `isKnown`: whether the path had a file at the round's start or in the agent's previous
 * answer.
 */
export type RoundEdit = {
  place: RoundPlace;
  staged: StagedChanges;
  edits: ContextEdits;
  isKnown: (path: string) => boolean;
};
/**
 * Changes that are decided but not stored yet. They are needed because one decision may submit an
 * answer and present it.
 */
export type PendingFiles = {
  changed: RoundEdit | null;
  frozen: readonly FrozenTree[];
  finalText: ResultFile | null;
};
/** No pending changes. */
export const NOTHING_PENDING: PendingFiles = { changed: null, frozen: [], finalText: null };

/** The changes of one decision to the session's files; stored in the transaction of its events. */
export type FilesEntry = {
  /** The changes of a tool call; `null` if no call ends or it changed nothing. */
  changed: RoundEdit | null;
  /** Parts of a tool result that are stored in R2, each as a whole. */
  results: readonly PlacedResult[];
  /** The trees that answers and final texts freeze. */
  frozen: readonly FrozenTree[];
  /** The file of a final text that is too long to be shown whole; `null` if there is none. */
  finalText: ResultFile | null;
  /** The states of contexts with a new final text; `null` if there is no new final text. */
  presented: { turn: number; sets: readonly ChangeSet[] } | null;
  /** The turn that ends; `null` if none ends. */
  ended: EndedTurn | null;
};

/**
 * A turn that has ended. `hasChanges`: clients can fetch its changes to contexts. `hasContexts`:
 * the turn may have pinned contexts.
 */
export type EndedTurn = { turn: number; hasChanges: boolean; hasContexts: boolean };

/** A part of a tool result that is stored in R2, and the round that it belongs to. */
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

/** The contents of results, by hash. */
export const contentsOf = (results: readonly ResultFile[]): ReadonlyMap<string, Uint8Array> =>
  new Map(results.map(({ hash, bytes }) => [hash, bytes]));

/**
 * The name of a result in R2. It contains the agent's number in the team instead of its id, because
 * an id may contain any character.
 */
export const resultName = ({
  place: { turn, attempt, agent, round },
  result,
}: PlacedResult): string => `${turn}/${attempt}/agent${agent + 1}/${round}/${result.name}`;

/** The round whose files the agent works on. */
export const placeOf = (turn: TurnState, agent: number): RoundPlace => ({
  turn: turn.number,
  attempt: turn.attempt.number,
  agent,
  round: filesRound(agentAt(turn.attempt, agent)),
});

/** Whether pending changes belong to this agent and round. */
export const isOf = (
  changed: RoundEdit | null,
  { agent, round }: RoundPlace,
): changed is RoundEdit => changed?.place.agent === agent && changed.place.round === round;

/** The round that an event names. */
export const inRound = (
  turn: TurnState,
  { agent, attempt, round }: { agent: string; attempt: number; round: number },
): RoundPlace => ({
  turn: turn.number,
  attempt,
  agent: indexOf(turn, agent),
  round,
});

/**
 * Adds the file of the whole text to the files of a final text. No effect if `path` is undefined.
 * Throws if the event names a file but the reply has none.
 */
export function withTextFile(tree: Tree, path: string | undefined, text: ResultFile | null): Tree {
  if (path === undefined) return tree;
  if (!text) throw new Error("the reply has no file for its final text");
  return new Map([...tree, [path, { hash: text.hash, size: text.bytes.byteLength }]]);
}
