import type { Answer, AttemptState, TurnState } from "../coordination/state";

/** What an agent sees of others' files, and how others' words about files read in its eyes. */

/**
 * The snapshots in an agent's `/peers/`: alias → name of the snapshot. They belong to exactly the answers it was last shown, its own
 * among them, so they change only where answers are shown: at the start of a round and at an injection. The presenter sees those of
 * all newest answers, as it is told of them. An answer without files has no snapshot.
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

/** Of each author the newest answer that the agent was shown. Later answers of the same author are later in the list. */
function answersSeen({ agents, answers }: AttemptState, agent: number): Answer[] {
  const viewer = agents[agent];
  const presents = viewer?.round != null && viewer.round.purpose !== "coordination";
  const shown = presents
    ? answers
    : answers.filter(({ revision }) => viewer?.shown.includes(revision));
  return [...new Map(shown.map((answer) => [answer.agent, answer])).values()];
}

/** The rejected result that the agents of a next attempt see, below `/attempts/{attempt}`; `null` if there is none. */
export function rejectedResult({
  attempt,
  rejected,
}: Pick<TurnState, "attempt" | "rejected">): Rejected | null {
  return rejected && rejected.attempt === attempt.number - 1
    ? { attempt: rejected.attempt, label: rejected.label }
    : null;
}

export type Rejected = { attempt: number; label: string };

/** Where the changes of a rejected result to contexts are, below its place: a workspace has no directory of this name. */
export const CHANGED_CONTEXTS = "contexts";

/** A context in an agent's `/contexts/`. */
export type ContextMount = {
  name: string;
  version: string;
  permission: "read" | "write";
  writable: boolean;
};

/** The contexts an agent sees. What may be written may be so by the presenter only, and only until its text is there. */
export function contextsOf(
  { rules, contexts = [], attempt }: ContextsOf,
  agent: number,
): ContextMount[] {
  const id = rules.agents[agent]?.id ?? "";
  const presents = attempt.presenter === agent && attempt.final === null;
  return contexts.flatMap(({ name, version, permissions }) => {
    const permission = permissions[id];
    return permission === undefined
      ? []
      : [{ name, version, permission, writable: presents && permission === "write" }];
  });
}

type ContextsOf = Pick<TurnState, "rules" | "contexts"> & {
  attempt: Pick<AttemptState, "presenter" | "final">;
};

/** `/workspace` as a path of its own or with something below it, and not as a part of a longer path or an address. */
const OWN_WORKSPACE = /(?<![\p{L}\p{N}_./~-])\/workspace(?![\p{L}\p{N}_-]|\.[\p{L}\p{N}])/gu;

/**
 * A text as it is shown: what its author calls `/workspace/a` is `{place}/a` for all readers. Of an answer the place is
 * `/peers/{alias}`, also for its author, who may not tell its own answer from others.
 */
export const pathsAsShown = (content: string, place: string): string =>
  content.replaceAll(OWN_WORKSPACE, place);
