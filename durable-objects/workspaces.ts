import type { WorkspaceSettings } from "../src/config/team";
import { evolve, indexOf, runningTurn, agentAt, type SessionState, type TurnState } from "../src/coordination";
import type { SessionEvent } from "../src/protocol/events";
import { RESULTS_DIRECTORY } from "../src/tools/results";
import type { AgentFiles, Staged } from "../src/workspace/agent-files";
import { peersOf } from "../src/workspace/mounts";
import { StagedFiles } from "../src/workspace/staged-files";
import { applyChanges, EMPTY_TREE } from "../src/workspace/tree";
import type { Tree } from "../src/workspace/types";
import type { BlobStore } from "./blob-store";
import type { RoundPlace } from "./call-store";
import { FILES } from "./limits";
import type { RoundChanges } from "./round-changes";
import type { FrozenFiles } from "./session-api";
import type { SnapshotPlace, SnapshotStore } from "./snapshot-store";

type Options = {
  blobs: BlobStore;
  changes: RoundChanges;
  snapshots: SnapshotStore;
  settingsOf: (agent: number) => WorkspaceSettings | undefined;
};

type Frozen = { place: SnapshotPlace; tree: Tree };
type Changed = { place: RoundPlace; staged: Staged };

/** What one decision means for the session's files; written in the transaction of its events. */
export type FilesEntry = {
  changed: Changed | null;
  frozen: readonly Frozen[];
  ended: number | null;
};

/** What a tool call that settles has staged. */
export type BroughtFiles = { toolCall: string; staged: Staged };

const NOTHING: FilesEntry = { changed: null, frozen: [], ended: null };

/**
 * The agents' files. A working tree is the tree its round began with and what the round has changed since. Answers and finals
 * freeze trees; peers see those, and the next turn begins with the last.
 */
export class Workspaces {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Whether the agent has a workspace. */
  has(turn: TurnState, agent: number): boolean {
    return turn.rules.agents[agent]?.workspace === true;
  }

  /** The agent's files for one tool call. */
  open(turn: TurnState, agent: number): AgentFiles {
    const { blobs, changes } = this.#options;
    const place = placeOf(turn, agent);
    const peers = [...peersOf(turn, agent)].map(([alias, label]): [string, Tree] => [alias, this.#snapshot({ ...place, label })]);
    return new StagedFiles({
      workspace: this.#working(turn, agent, null),
      peers: new Map(peers),
      contexts: new Map(),
      blobs,
      limits: { fileBytes: FILES.fileBytes, files: FILES.files, treeBytes: FILES.treeBytes },
      readBeforeDelete: this.#options.settingsOf(agent)?.readBeforeDelete ?? true,
      ...changes.marks(place),
    });
  }

  /** How many files the workspace holds, with what is staged; null where the agent has none. */
  count(turn: TurnState, agent: number, staged: Staged | null): number | null {
    if (!this.has(turn, agent)) return null;
    const tree = this.#working(turn, agent, null);
    return handedOver(staged ? applyChanges(tree, staged.workspace) : tree).size;
  }

  /** The files of an answer as they were with it; null: those of the turn's result. */
  frozen(turn: number, answer: { attempt: number; label: string } | null): FrozenFiles {
    const { snapshots } = this.#options;
    const found = answer ? snapshots.read({ turn, ...answer }) : snapshots.resultOf(turn);
    const { attempt, label } = answer ?? found?.place ?? { attempt: 1, label: "" };
    return { attempt, label, tree: [...(found?.tree ?? EMPTY_TREE)].map(([path, entry]) => ({ path, ...entry })) };
  }

  /** Contents by their hash; null if the session has none such. */
  contents(hash: string): Promise<Uint8Array<ArrayBuffer>> | null {
    const { blobs } = this.#options;
    return blobs.has(hash) ? blobs.read({ hash, size: 0 }) : null;
  }

  /** Puts elsewhere what fits into no row; to be awaited before what is staged is committed. */
  spill(staged: Staged): Promise<void> {
    return this.#options.blobs.spill(staged.blobs);
  }

  /** What these events mean for the files. Writes nothing. */
  entry(before: SessionState, events: readonly SessionEvent[], brought: BroughtFiles | null): FilesEntry {
    if (!runningTurn(before)?.rules.agents.some(({ workspace }) => workspace)) return NOTHING;
    let state = before;
    let changed: Changed | null = null;
    const frozen: Frozen[] = [];
    for (const event of events) {
      const turn = runningTurn(state);
      if (turn && event.type === "tool.completed" && event.tool_call === brought?.toolCall) {
        changed = { place: inRound(turn, event), staged: brought.staged };
      }
      const taken = turn && this.#frozenBy(turn, event, changed);
      if (taken) frozen.push(taken);
      state = evolve(state, event);
    }
    return { changed, frozen, ended: runningTurn(state) ? null : (runningTurn(before)?.number ?? null) };
  }

  /** Inside the transaction of the events. */
  write({ changed, frozen, ended }: FilesEntry): void {
    const { blobs, changes, snapshots } = this.#options;
    if (changed) {
      blobs.add(changed.staged.blobs);
      changes.write(changed.place, changed.staged);
    }
    for (const { place, tree } of frozen) snapshots.write(place, tree);
    if (ended !== null) changes.forget(ended);
  }

  /** The tree that an event freezes; null if it freezes none. */
  #frozenBy(turn: TurnState, event: SessionEvent, changed: Changed | null): Frozen | null {
    if (event.type !== "answer.submitted" && event.type !== "presentation.completed") return null;
    const agent = indexOf(turn, event.agent);
    const place = { turn: turn.number, attempt: event.attempt, label: event.label };
    if (event.type === "answer.submitted") {
      return event.snapshot === event.label ? { place, tree: handedOver(this.#working(turn, agent, changed)) } : null;
    }
    if (!this.has(turn, agent)) return null;
    const presented = event.source === "presentation" ? handedOver(this.#working(turn, agent, changed)) : EMPTY_TREE;
    return { place, tree: presented.size > 0 ? presented : this.#base(turn, agent) };
  }

  /** The tree as it stands, with what is about to be written. */
  #working(turn: TurnState, agent: number, changed: Changed | null): Tree {
    const place = placeOf(turn, agent);
    const tree = applyChanges(this.#base(turn, agent), this.#options.changes.of(place));
    const isOf = changed?.place.agent === agent && changed.place.round === place.round;
    return changed && isOf ? applyChanges(tree, changed.staged.workspace) : tree;
  }

  /** What the agent's round began with: the winning files for the presenter, what the turn began with for everybody else. */
  #base({ number: turn, attempt }: TurnState, agent: number): Tree {
    const { settled } = attempt;
    const isPresenter = settled?.winner === agent && settled.revision !== null;
    const answer = isPresenter ? attempt.answers[(settled.revision ?? 0) - 1] : undefined;
    if (!answer) return this.#options.snapshots.baseOf(turn);
    return answer.snapshot === null ? EMPTY_TREE : this.#snapshot({ turn, attempt: attempt.number, label: answer.snapshot });
  }

  #snapshot(place: SnapshotPlace): Tree {
    return this.#options.snapshots.read(place)?.tree ?? EMPTY_TREE;
  }
}

/** What others get to see of a tree: not the results of tools that were too large for the conversation. */
const handedOver = (tree: Tree): Tree => new Map([...tree].filter(([path]) => !path.startsWith(`${RESULTS_DIRECTORY}/`)));

const placeOf = (turn: TurnState, agent: number): RoundPlace => ({
  turn: turn.number,
  attempt: turn.attempt.number,
  agent,
  round: agentAt(turn.attempt, agent).rounds,
});

const inRound = (turn: TurnState, { agent, attempt, round }: { agent: string; attempt: number; round: number }): RoundPlace => ({
  turn: turn.number,
  attempt,
  agent: indexOf(turn, agent),
  round,
});
