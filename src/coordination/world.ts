import type { Usage } from "../protocol/events";
import type { WorkspaceFacts } from "./inputs";

/**
 * Live facts that are not part of the state: streamed text, files in workspaces, usage of calls in
 * flight. They describe the session before the input of the current `decide`. `decide` reads each
 * fact at most once, so that it cannot read two different values.
 */
export type World = {
  /**
   * Text that the agent at this index has streamed so far in the running attempt: for the presenter
   * its final text, for an agent without an answer its best text. `null` if there is none.
   */
  partial(agent: number): string | null;
  /** The agent's workspace. `null` if the agent has none, or if the workspace is not known. */
  workspace(agent: number): WorkspaceFacts | null;
  /**
   * Usage that the provider of a call in flight has reported so far. `null` if it has reported
   * none. If the call is then cancelled, its whole reservation is charged.
   */
  usage(call: string): Usage | null;
};

/** A world without facts, for inputs at which no turn runs. */
export const EMPTY_WORLD: World = {
  partial: () => null,
  workspace: () => null,
  usage: () => null,
};

/** A world that reads each fact of `world` once and then returns the same value again. */
export function rememberAnswers(world: World): World {
  return {
    partial: memoize((agent: number) => world.partial(agent)),
    workspace: memoize((agent: number) => world.workspace(agent)),
    usage: memoize((call: string) => world.usage(call)),
  };
}

function memoize<Key, Fact>(read: (key: Key) => Fact): (key: Key) => Fact {
  const facts = new Map<Key, Fact>();
  return (key) => {
    const stored = facts.get(key);
    if (stored !== undefined) return stored;
    const fact = read(key);
    facts.set(key, fact);
    return fact;
  };
}
