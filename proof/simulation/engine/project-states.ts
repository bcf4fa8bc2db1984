import { isDeepStrictEqual } from "node:util";
import type { ContextState } from "../../../durable-objects/session/files/context-states";
import { isTerminal } from "../../../src/protocol/events";
import { entryOf, SITE, type SimulatedContexts } from "./contexts";
import { expectedContextsOf, type StoredState } from "./expected-contexts";
import type { OutsideCheck } from "./outside";
import type { LiveSession } from "./platform";

/** The states of a project's context, as the session stores them at the end of a run. */
export function contextStatesOf(
  { log, workspaces }: LiveSession,
  contexts: SimulatedContexts,
): ReadonlyMap<number, StoredState> {
  const ended = log.turns().filter(({ lastSeq }) => lastSeq !== null);
  return new Map(
    ended.flatMap(({ turn }): [number, StoredState][] => {
      const state = workspaces.contextStates.end(turn).find(({ context }) => context === SITE);
      const isKept = (hash: string) => workspaces.isKept(hash);
      return state ? [[turn, toStored(state, contexts, isKept)]] : [];
    }),
  );
}

/** All files of a state, as `{sha256} {size}`; `missing` if the contents are stored nowhere. */
function toStored(
  { version, changes, sources }: ContextState,
  contexts: SimulatedContexts,
  isKept: (hash: string) => boolean,
): StoredState {
  const files = new Map<string, string>();
  const hasContents = (id: string, hash: string): boolean =>
    [...(contexts.version(id)?.files.values() ?? [])].some((text) => entryOf(text).hash === hash);
  for (const [path, text] of contexts.version(version)?.files ?? []) {
    const { hash, size } = entryOf(text);
    files.set(path, `${hash} ${size}`);
  }
  for (const [path, entry] of changes) {
    if (entry === null) {
      files.delete(path);
      continue;
    }
    const { hash, size } = entry;
    const isStored =
      isKept(hash) || hasContents(version, hash) || hasContents(sources.get(hash) ?? "", hash);
    files.set(path, isStored ? `${hash} ${size}` : "missing");
  }
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  return { version, files: Object.fromEntries(sorted) };
}

/**
 * After each turn, the context has the files that the rules give it: the merge of the user's
 * version and the parent's result, with the presenter's changes. Its version stays pinned.
 */
export const contextsOfTurns: OutsideCheck = ({
  log,
  platform,
  projectStarts: starts,
  contexts: found,
  stuck,
}) => {
  if (starts.length === 0 || stuck !== null) return [];
  const { contexts, providers } = platform;
  const expected = expectedContextsOf(log, providers.received, { contexts, starts });
  const ended = log.filter(({ type }) => isTerminal(type)).map(({ turn }) => turn);
  return ended.flatMap((turn) => {
    const [actual, wanted] = [found.get(turn), expected.get(turn)?.state];
    const kept = contexts.kept.get(turn);
    const refused = starts.find((start) => start.turn === turn)?.conflicts ?? [];
    const conflicts = expected.get(turn)?.conflicts ?? [];
    return [
      ...(isDeepStrictEqual(actual, wanted)
        ? []
        : [
            `after turn ${turn}, found ${JSON.stringify(actual)}, expected ${JSON.stringify(wanted)}`,
          ]),
      ...(isDeepStrictEqual(refused, conflicts)
        ? []
        : [`turn ${turn} had the conflicts [${refused.join()}], expected [${conflicts.join()}]`]),
      ...(kept && wanted && !kept.has(wanted.version)
        ? [`turn ${turn} has released ${wanted.version}, on which its state is based`]
        : []),
    ];
  });
};
