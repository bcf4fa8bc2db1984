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
  contexts: Pick<SessionContexts, "tree">;
  contextChanges: Pick<ContextChanges, "of">;
};

const NONE: ReadonlyMap<string, Tree> = new Map();

/**
 * The files below `/attempts`: the rejected result of the previous attempt, with its changes to
 * contexts. Constant during an attempt, so it is loaded once per agent.
 */
export class RejectedResults {
  readonly #options: Options;
  readonly #known = new Map<number, ReadonlyMap<string, Tree>>();
  #attempt = "";

  constructor(options: Options) {
    this.#options = options;
  }

  /** The rejected results by number of attempt. The turn's contexts must be loaded. */
  of(turn: TurnState, agent: number): ReadonlyMap<string, Tree> {
    const result = rejectedResult(turn);
    if (!result) return NONE;
    const attempt = `${turn.number} ${turn.attempt.number}`;
    if (this.#attempt !== attempt) this.#known.clear();
    this.#attempt = attempt;
    const known = this.#known.get(agent) ?? this.#load(turn, agent, result);
    this.#known.set(agent, known);
    return known;
  }

  /** Contexts that the agent has no access to are left out. */
  #load(turn: TurnState, agent: number, result: RejectedResult): ReadonlyMap<string, Tree> {
    const { snapshots, contexts, contextChanges } = this.#options;
    const frozen = snapshots.read({ turn: turn.number, ...result });
    if (!frozen) return NONE;
    const seen = new Set(contextsOf(turn, agent).map(({ name }) => name));
    const changed = contextChanges.of(turn.number).filter(({ context }) => seen.has(context));
    const files = changed.flatMap(({ context: name, version, changes }) =>
      [...applyChanges(contexts.tree({ name, version }) ?? EMPTY_TREE, changes)].map(
        ([path, entry]) => [`${CHANGED_CONTEXTS}/${name}/${path}`, entry] as const,
      ),
    );
    return new Map([[`${result.attempt}`, byPath([...frozen.tree, ...files])]]);
  }
}
