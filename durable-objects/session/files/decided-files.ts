import { indexOf, runningTurn, type Step, type TurnState } from "../../../src/coordination";
import type { PayloadFiles, ResultFile } from "../../../src/engine/ports";
import type { SessionEvent } from "../../../src/protocol/events";
import { handedOver } from "../../../src/workspace/workspace-facts";
import { combineChanges, mergeChanges } from "../../../src/workspace/tree";
import type { Outbox } from "../log/outbox";
import type { BlobStore } from "./blob-store";
import type { ChangeSet, ContextChanges } from "./context-changes";
import type { ContextStates } from "./context-states";
import type { FileJob } from "./file-jobs";
import {
  type PendingFiles,
  type RoundEdit,
  contentsOf,
  type EndedTurn,
  type PlacedResult,
  endedBy,
  type FilesEntry,
  type FrozenTree,
  inRound,
  placeOf,
  resultName,
  withTextFile,
} from "./files-entry";
import type { RoundChanges } from "./round-changes";
import type { SessionContexts } from "./session-contexts";
import type { SnapshotStore } from "./snapshot-store";
import type { WorkspaceTrees } from "./workspace-trees";

type Options = {
  trees: WorkspaceTrees;
  blobs: BlobStore;
  changes: RoundChanges;
  contexts: Pick<SessionContexts, "pinnedTree">;
  contextChanges: ContextChanges;
  contextStates: ContextStates;
  snapshots: SnapshotStore;
  outbox: Outbox<FileJob>;
};

/**
 * Computes and stores the file changes of one decision: the changes of a tool call, the trees that
 * answers and final texts freeze, and the jobs of a turn that ends.
 */
export class DecidedFiles {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Computes the file changes of these steps. Writes nothing. `payload`: the files of the tool call
   * that ends. `wholeText`: the file of the final text.
   */
  entry(
    steps: readonly Step[],
    payload: PayloadFiles | null,
    wholeText: ResultFile | null = null,
  ): FilesEntry {
    const { trees } = this.#options;
    const ended = endedBy(steps);
    let changed: RoundEdit | null = null;
    let results: readonly PlacedResult[] = [];
    const running = steps[0] && runningTurn(steps[0].before);
    const hasFiles = running?.rules.agents.some(({ workspace }) => workspace) || payload !== null;
    if (!hasFiles) return { changed, results, frozen: [], finalText: null, presented: null, ended };
    const frozen: FrozenTree[] = [];
    let presented: FilesEntry["presented"] = null;
    let finalText: ResultFile | null = null;
    for (const { event, before } of steps) {
      const turn = runningTurn(before);
      if (turn && event.type === "tool.completed" && event.tool_call === payload?.toolCall) {
        changed =
          payload.staged &&
          trees.changed(turn, placeOf(turn, indexOf(turn, event.agent)), payload.staged);
        const place = inRound(turn, event);
        results = payload.results.map((result) => ({ place, result }));
      }
      if (turn && event.type === "presentation.completed") {
        presented = { turn: turn.number, sets: this.#changeSets(turn, event.agent, changed) };
        if (event.text_file !== undefined) finalText = wholeText;
      }
      const frozenTree = turn && this.#frozenBy(turn, event, { changed, frozen, finalText });
      if (frozenTree) frozen.push(frozenTree);
    }
    return { changed, results, frozen, finalText, presented, ended };
  }

  /** Stores the changes. To be called inside the transaction of the events. */
  write({ changed, results, frozen, finalText, presented, ended }: FilesEntry): void {
    const { blobs, changes, contextChanges, snapshots, outbox } = this.#options;
    if (changed) {
      blobs.add(changed.staged.blobs);
      changes.write(changed.place, changed.staged, changed);
    }
    blobs.add(contentsOf(results.map(({ result }) => result)));
    for (const placed of results)
      outbox.add({ type: "upload_result", name: resultName(placed), hash: placed.result.hash });
    if (finalText) blobs.add(contentsOf([finalText]));
    for (const { place, tree, at } of frozen) {
      snapshots.write(place, tree);
      outbox.add({ type: "upload_snapshot", ...place, at });
    }
    if (presented) contextChanges.replace(presented.turn, presented.sets);
    if (ended !== null) this.end(ended);
  }

  /**
   * Deletes the working trees of a turn that ends, and adds the jobs that remain. To be called
   * inside the transaction of the turn's end.
   */
  end({ turn, hasChanges, hasContexts }: EndedTurn): void {
    const { blobs, changes, contextChanges, outbox } = this.#options;
    changes.forget(turn);
    // A later turn may start from these states, and clients may fetch them at any time.
    if (hasChanges && hasContexts) blobs.keep(contextChanges.hashes(turn));
    if (hasContexts) outbox.add({ type: "release_contexts", turn, hasChanges });
    if (blobs.hasWorkingCopies()) outbox.add({ type: "tidy" });
  }

  /** The tree that an event freezes, with the pending changes; `null` if it freezes none. */
  #frozenBy(turn: TurnState, event: SessionEvent, pending: PendingFiles): FrozenTree | null {
    if (event.type !== "answer.submitted" && event.type !== "presentation.completed") return null;
    const { trees } = this.#options;
    const agent = indexOf(turn, event.agent);
    const { at } = event;
    const place = { turn: turn.number, attempt: event.attempt, label: event.label };
    if (event.type === "answer.submitted") {
      return event.snapshot === event.label
        ? { place, at, tree: handedOver(trees.working(turn, agent, pending)) }
        : null;
    }
    if (event.snapshot === null) return null;
    const hasOwnSnapshot = event.snapshot === event.label;
    if (!hasOwnSnapshot) return { place, at, tree: trees.base(turn, agent, pending.frozen) };
    const tree = handedOver(trees.working(turn, agent, pending));
    return { place, at, tree: withTextFile(tree, event.text_file, pending.finalText) };
  }

  /**
   * The states of the turn's contexts with a final text: the differences that the turn started
   * with, and the presenter's changes. `changed`: its pending changes. `id`: the presenter's id.
   */
  #changeSets(turn: TurnState, id: string, changed: RoundEdit | null): ChangeSet[] {
    if (!turn.contexts) return [];
    const { trees, contexts, contextStates } = this.#options;
    const edits = trees.contextEdits(turn, placeOf(turn, indexOf(turn, id)), changed);
    return contextStates.start(turn.number).states.map(({ context, version, changes: earlier }) => {
      const later = edits.get(context);
      if (!later || later.size === 0) return { context, version, changes: earlier };
      const pinned = contexts.pinnedTree({ name: context, version });
      const changes = pinned
        ? mergeChanges(pinned, earlier, later)
        : combineChanges(earlier, later);
      return { context, version, changes };
    });
  }
}
