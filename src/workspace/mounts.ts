import type { Answer, AttemptState, TurnState } from "../coordination/state";
import { OWN_WORKSPACE } from "../protocol/workspace-paths";

/** Determines the files of others that an agent sees, and rewrites paths in texts of others. */

/**
 * The snapshots in an agent's `/peers/`: alias → name of the snapshot. They belong to the answers
 * that the agent was last shown, including its own answer. So they change only at the start of a
 * round and at an injection. The presenter sees the snapshots of all newest answers. An answer
 * without files has no snapshot.
 */
export function peersOf(
  { aliases, attempt }: Pick<TurnState, "aliases" | "attempt">,
  agent: number,
): Map<string, string> {
  const peers = answersSeen(attempt, agent).flatMap((answer): [string, string][] => {
    const alias = aliases[answer.agent];
    return alias === undefined || answer.snapshot === null ? [] : [[alias, answer.snapshot]];
  });
  return new Map(peers.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * The newest answer that the agent was shown, for each author. `answers` is sorted by revision, so
 * a later answer replaces an earlier answer of the same author.
 */
function answersSeen({ agents, answers }: AttemptState, agent: number): Answer[] {
  const viewer = agents[agent];
  const isPresenting = viewer?.round != null && viewer.round.purpose !== "coordination";
  const shown = isPresenting
    ? answers
    : answers.filter(({ revision }) => viewer?.shown.includes(revision));
  return [...new Map(shown.map((answer) => [answer.agent, answer])).values()];
}

/**
 * The rejected result that agents of the next attempt see below `/attempts/{attempt}`; `null` if
 * there is none.
 */
export function rejectedResult({
  attempt,
  rejected,
}: Pick<TurnState, "attempt" | "rejected">): RejectedResult | null {
  return rejected && rejected.attempt === attempt.number - 1
    ? { attempt: rejected.attempt, label: rejected.label }
    : null;
}

export type RejectedResult = { attempt: number; label: string };

/**
 * Directory for a rejected result's changes to contexts; workspaces have no directory of this name.
 */
export const CHANGED_CONTEXTS = "contexts";

/** A context in an agent's `/contexts/`. */
export type ContextMount = {
  name: string;
  /** Id of the version. */
  version: string;
  /** The permission in the config. */
  permission: "read" | "write";
  /** Whether the agent may write now. */
  writable: boolean;
};

/**
 * The contexts that an agent sees. Only the presenter may write, until its final text is complete.
 */
export function contextsOf(
  { rules, contexts = [], attempt }: ContextsOf,
  agent: number,
): ContextMount[] {
  const id = rules.agents[agent]?.id ?? "";
  const isPresenting = attempt.presenter === agent && attempt.final === null;
  return contexts.flatMap(({ name, version, permissions }) => {
    const permission = permissions[id];
    return permission === undefined
      ? []
      : [{ name, version, permission, writable: isPresenting && permission === "write" }];
  });
}

type ContextsOf = Pick<TurnState, "rules" | "contexts"> & {
  attempt: Pick<AttemptState, "presenter" | "final">;
};

/**
 * Replaces `/workspace` in an answer by the path at which other agents see its files. `place` is
 * that path, `/peers/{alias}`. The author sees the same text, because it must not recognise its own
 * answer.
 */
export const pathsAsShown = (content: string, place: string): string =>
  content.replaceAll(OWN_WORKSPACE, place);
