import type { EarlierTurns } from "../../src/workspace/earlier-turns";
import type { Tree, TurnTree } from "../../src/workspace/types";

/** The trees of earlier turns, by turn. A result has the name "", a context its own name. */
export type TurnsSetup<Files> = Readonly<Record<string, Readonly<Record<string, Files>>>>;

/**
 * Earlier turns whose trees are available only during `withTree`. So a test fails if a tool reads a
 * tree without loading it.
 */
export class OneLoadedTurn implements EarlierTurns {
  readonly #turns: TurnsSetup<Tree>;
  #loaded: string | null = null;

  constructor(turns: TurnsSetup<Tree>) {
    this.#turns = turns;
  }

  has = (name: string): boolean => name in this.#turns;
  keys = (): string[] => Object.keys(this.#turns);
  contextsOf = (name: string): string[] =>
    Object.keys(this.#turns[name] ?? {}).filter((tree) => tree !== "");

  withTree = async <T>(place: TurnTree, act: () => T): Promise<Awaited<T>> => {
    await Promise.resolve();
    this.#loaded = nameOf(place);
    try {
      // Without `await`, so that only the synchronous part of `act` can use the tree.
      const result = act();
      this.#loaded = null;
      return await result;
    } finally {
      this.#loaded = null;
    }
  };

  tree = (place: TurnTree): Tree => {
    const tree = this.#turns[place.turn]?.[place.context ?? ""];
    if (!tree || this.#loaded !== nameOf(place)) throw new Error(`${nameOf(place)} is not loaded`);
    return tree;
  };
}

const nameOf = ({ turn, context }: TurnTree): string => `${turn} ${context ?? ""}`.trimEnd();
