import type { Usage } from "../protocol/events";
import type { WorkspaceFacts } from "./inputs";

/**
 * Live facts that are not part of the state: text that streams in, files in workspaces, usage of
 * calls in flight. All questions are about the session before the input of this `decide`. `decide`
 * asks each question at most once, so its answers cannot contradict each other.
 */
export type World = {
  /**
   * Text that the agent at this index has streamed so far in the running attempt: of an agent
   * without an answer, or the presenter's final text. `null` if there is none.
   */
  partial(agent: number): string | null;
  /** The agent's workspace. `null` if the agent has none, or if the workspace is not known. */
  workspace(agent: number): WorkspaceFacts | null;
  /**
   * Usage that a call in flight has reported so far. `null` if it has reported none: then a
   * cancelled call is charged its whole reservation.
   */
  usage(call: string): Usage | null;
};

/** A world about which nothing is known: for inputs that no running turn precedes. */
export const EMPTY_WORLD: World = {
  partial: () => null,
  workspace: () => null,
  usage: () => null,
};

/** A world that asks `world` each question once and then repeats the answer. */
export function rememberAnswers(world: World): World {
  return {
    partial: once((agent: number) => world.partial(agent)),
    workspace: once((agent: number) => world.workspace(agent)),
    usage: once((call: string) => world.usage(call)),
  };
}

function once<Key, Answer>(ask: (key: Key) => Answer): (key: Key) => Answer {
  const answers = new Map<Key, Answer>();
  return (key) => {
    const known = answers.get(key);
    if (known !== undefined) return known;
    const answer = ask(key);
    answers.set(key, answer);
    return answer;
  };
}
