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
 * The changes of one decision to the session's files, and the small facts that follow from them.
 */

/** A tree that an event freezes. `at`: time of the event, unix ms. */
export type FrozenTree = { place: SnapshotPlace; tree: Tree; at: number };
/**
 * A tool call's changes, with the round's resulting changes to contexts. `isKnown`: whether the
 * path had a file at the round's start or in the previous answer.
 */
export type RoundEdit = {
  place: RoundPlace;
  staged: StagedChanges;
  edits: ContextEdits;
  isKnown: (path: string) => boolean;
};
/**
 * Changes that are decided and not stored yet: an answer may be submitted and presented in one
 * decision.
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
  changed: RoundEdit | null;
  /** Parts of a tool result that are stored in R2, each as a whole. */
  results: readonly PlacedResult[];
  frozen: readonly FrozenTree[];
  /** A final text that is too long to be shown whole; `null` if there is none. */
  finalText: ResultFile | null;
  /** The presenter's changes to contexts; `null` if there is no new final text. */
  presented: { turn: number; sets: readonly ChangeSet[] } | null;
  ended: EndedTurn | null;
};

/**
 * `hasChanges`: its changes to contexts can be fetched. `hasContexts`: it may have been given
 * contexts.
 */
export type EndedTurn = { turn: number; hasChanges: boolean; hasContexts: boolean };

/** A stored part of a tool result, and the round it belongs to. */
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
 * The name of a result in R2. Agents are numbered by their place in the team, because their ids may
 * contain any character.
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

/** Whether the pending changes belong to this agent and round. */
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
 * The files of a final text, with the file of the whole text. Throws if the event names a file that
 * did not come with the reply.
 */
export function withTextFile(tree: Tree, path: string | undefined, text: ResultFile | null): Tree {
  if (path === undefined) return tree;
  if (!text) throw new Error("the reply has no file for its final text");
  return new Map([...tree, [path, { hash: text.hash, size: text.bytes.byteLength }]]);
}
