import { agentAt, BASE, type TurnState } from "../../../src/coordination";
import type { StagedChanges } from "../../../src/workspace/agent-files";
import { contextsOf } from "../../../src/workspace/mounts";
import { applyChanges, EMPTY_TREE } from "../../../src/workspace/tree";
import type { Tree } from "../../../src/workspace/types";
import type { RoundPlace } from "../calls/call-store";
import { type PendingFiles, type RoundEdit, type FrozenTree, isOf, placeOf } from "./files-entry";
import type { ContextEdits, RoundChanges } from "./round-changes";
import type { SessionContexts } from "./session-contexts";
import type { SnapshotPlace, SnapshotStore } from "./snapshot-store";

type Options = {
  changes: RoundChanges;
  contexts: SessionContexts;
  snapshots: SnapshotStore;
};

type NamedSnapshot = Omit<SnapshotPlace, "label"> & { label: string | null };

/**
 * The trees of the agents' files. A working tree is the tree that its round began with, plus the
 * round's changes.
 */
export class WorkspaceTrees {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** The files of the agent's newest answer in the attempt; `null` if it has none. */
  previous({ number: turn, attempt }: TurnState, agent: number): Tree | null {
    const { snapshot } = agentAt(attempt, agent);
    return snapshot === null
      ? null
      : this.frozen({ turn, attempt: attempt.number, label: snapshot });
  }

  /** The staged changes of a call, with the round's changes to contexts after the call. */
  changed(turn: TurnState, place: RoundPlace, staged: StagedChanges): RoundEdit {
    const { changes, contexts } = this.#options;
    const trees = contextsOf(turn, place.agent).flatMap((mount): [string, Tree][] => {
      const tree = mount.writable ? contexts.tree(mount) : null;
      return tree ? [[mount.name, tree]] : [];
    });
    const knownTrees = [this.base(turn, place.agent, []), this.previous(turn, place.agent)];
    const isKnown = (path: string) => knownTrees.some((tree) => tree?.has(path));
    return { place, staged, edits: changes.editsWith(place, staged, new Map(trees)), isKnown };
  }

  /** The round's changes to contexts, by context name, including pending changes. */
  contextEdits(turn: TurnState, place: RoundPlace, changed: RoundEdit | null): ContextEdits {
    const edits = isOf(changed, place) ? changed.edits : null;
    const names = contextsOf(turn, place.agent).map(({ name }) => name);
    return new Map(
      names.map((name) => [name, edits?.get(name) ?? this.#options.changes.ofContext(place, name)]),
    );
  }

  /** The working tree, including pending changes. */
  working(turn: TurnState, agent: number, { changed, frozen }: PendingFiles): Tree {
    const place = placeOf(turn, agent);
    const tree = applyChanges(this.base(turn, agent, frozen), this.#options.changes.of(place));
    return isOf(changed, place) ? applyChanges(tree, changed.staged.workspace) : tree;
  }

  /**
   * The tree that the agent's round began with. For the presenter, these are the files of the
   * winning answer; for all other agents, the tree that the turn began with. `frozen`: trees that
   * are not stored yet.
   */
  base({ number: turn, attempt }: TurnState, agent: number, frozen: readonly FrozenTree[]): Tree {
    const { settled } = attempt;
    const isPresenter = settled?.winner === agent && settled.revision !== null;
    const answer = isPresenter ? attempt.answers[(settled.revision ?? 0) - 1] : undefined;
    if (!answer) return this.#options.snapshots.baseOf(turn);
    const label = answer.snapshot;
    // The label alone identifies the tree, because all trees of one decision are of one attempt.
    const unwritten = frozen.find(({ place }) => place.label === label);
    return unwritten?.tree ?? this.frozen({ turn, attempt: attempt.number, label });
  }

  /**
   * The files of a snapshot that an event names. For the label `BASE`, these are the files that the
   * turn began with. Empty if the label is `null`.
   */
  frozen({ turn, attempt, label }: NamedSnapshot): Tree {
    const { snapshots } = this.#options;
    if (label === null) return EMPTY_TREE;
    return label === BASE
      ? snapshots.baseOf(turn)
      : (snapshots.read({ turn, attempt, label })?.tree ?? EMPTY_TREE);
  }
}
