import type { TurnState } from "../../../src/coordination";
import {
  CHANGED_CONTEXTS,
  contextsOf,
  type RejectedResult,
  rejectedResult,
} from "../../../src/workspace/mounts";
import { applyChanges, byPath, EMPTY_TREE } from "../../../src/workspace/tree";
import type { Tree } from "../../../src/workspace/types";
import type { ContextChanges } from "./context-changes";
import type { SessionContexts } from "./session-contexts";
import type { SnapshotStore } from "./snapshot-store";

type Options = {
  snapshots: Pick<SnapshotStore, "read">;
  contexts: Pick<SessionContexts, "pinnedTree">;
  contextChanges: Pick<ContextChanges, "of">;
};

const NONE: ReadonlyMap<string, Tree> = new Map();

/**
 * The files that agents see below `/attempts`: the rejected result of the previous attempt, with
 * its changes to contexts. These files do not change during an attempt, so they are loaded once per
 * agent.
 */
export class RejectedResults {
  readonly #options: Options;
  /** The cached files of `#attempt`, by agent. */
  readonly #cache = new Map<number, ReadonlyMap<string, Tree>>();
  #attempt = "";

  constructor(options: Options) {
    this.#options = options;
  }

  /** The rejected results, by number of the attempt. The turn's contexts must be loaded before. */
  of(turn: TurnState, agent: number): ReadonlyMap<string, Tree> {
    const result = rejectedResult(turn);
    if (!result) return NONE;
    const attempt = `${turn.number} ${turn.attempt.number}`;
    if (this.#attempt !== attempt) this.#cache.clear();
    this.#attempt = attempt;
    const results = this.#cache.get(agent) ?? this.#load(turn, agent, result);
    this.#cache.set(agent, results);
    return results;
  }

  /** Loads the rejected result without the contexts that the agent has no access to. */
  #load(turn: TurnState, agent: number, result: RejectedResult): ReadonlyMap<string, Tree> {
    const { snapshots, contexts, contextChanges } = this.#options;
    const frozen = snapshots.read({ turn: turn.number, ...result });
    if (!frozen) return NONE;
    const visible = new Set(contextsOf(turn, agent).map(({ name }) => name));
    const changeSets = contextChanges.of(turn.number).filter(({ context }) => visible.has(context));
    const files = changeSets.flatMap(({ context: name, version, changes }) => {
      const pinnedTree = contexts.pinnedTree({ name, version }) ?? EMPTY_TREE;
      return [...applyChanges(pinnedTree, changes)].map(
        ([path, entry]) => [`${CHANGED_CONTEXTS}/${name}/${path}`, entry] as const,
      );
    });
    return new Map([[`${result.attempt}`, byPath([...frozen.tree, ...files])]]);
  }
}
