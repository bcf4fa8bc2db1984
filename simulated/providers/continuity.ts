import { randomBytes, randomInt } from "node:crypto";
import { isJsonObject, parseJson } from "../../src/providers/json";

/**
 * What a provider knows of its own replies. A reply that a client brings back must be what the client was given: the same text,
 * the same calls with the same ids, the same reasoning under the same seal. Real providers check this by signatures and by what
 * they stored; here the replies themselves are kept. Of two calls that were given one id, the second may come back under another.
 */
export type Item = {
  kind: "text" | "reasoning" | "call" | "hosted";
  /** Made by the provider and found in no other item; empty for text. */
  id: string;
  /** null: it cannot be brought back as it was (arguments that are no JSON object), so anything may stand for it. */
  content: string | null;
};

export type Mismatch =
  /** No item of the turn was ever given. */
  | { kind: "unknown"; turn: number }
  /** `item` was given and is gone, or differs. */
  | { kind: "missing" | "changed"; turn: number; item: Item }
  /** `item` stands where the reply had none. */
  | { kind: "added"; turn: number; item: Item };

export class Continuity {
  readonly #byId = new Map<string, readonly Item[]>();
  readonly #texts = new Set<string>();

  keep(given: readonly Item[]): void {
    const ids = given.filter(({ id }) => id !== "");
    for (const { id } of ids) this.#byId.set(id, given);
    if (ids.length === 0) this.#texts.add(JSON.stringify(given));
  }

  /** What is wrong with the turns that a request brings back, or null. */
  mismatch(turns: readonly (readonly Item[])[]): Mismatch | null {
    for (const [turn, items] of turns.entries()) {
      const wrong = this.#wrongIn(items, turn);
      if (wrong) return wrong;
    }
    return null;
  }

  #wrongIn(items: readonly Item[], turn: number): Mismatch | null {
    if (items.length === 0) return null; // an empty reply leaves nothing to bring back
    const given = items.map(({ id }) => this.#byId.get(id)).find((found) => found !== undefined);
    if (!given) return this.#texts.has(JSON.stringify(items)) ? null : { kind: "unknown", turn };
    for (const [place, item] of given.entries()) {
      const brought = items[place];
      const isRepeated = item.id !== "" && given.slice(0, place).some(({ id }) => id === item.id);
      if (
        brought &&
        (isRepeated ? isSame({ ...item, id: brought.id }, brought) : isSame(item, brought))
      )
        continue;
      return { kind: brought?.kind === item.kind ? "changed" : "missing", turn, item };
    }
    const added = items[given.length];
    return added ? { kind: "added", turn, item: added } : null;
  }
}

const isSame = (given: Item, brought: Item): boolean =>
  given.kind === brought.kind &&
  given.id === brought.id &&
  (given.content === null || given.content === brought.content);

/** A call as an item: its arguments as text, if they are what arguments must be. */
export const callItem = (id: string, name: string, args: string): Item => ({
  kind: "call",
  id,
  content: isJsonObject(parseJson(args)) ? `${name}(${args})` : null,
});

/** Text as it counts: pieces that follow each other are one, and no text is nothing. */
export function joined(items: readonly Item[]): Item[] {
  const whole: Item[] = [];
  for (const item of items) {
    const last = whole.at(-1);
    const isText = item.kind === "text" && item.id === "";
    if (isText && item.content === "") continue;
    if (isText && last?.kind === "text" && last.id === "")
      whole[whole.length - 1] = { ...last, content: `${last.content}${item.content}` };
    else whole.push(item);
  }
  return whole;
}

/** What only this provider could have written. */
export const newSeal = (): string => randomBytes(48).toString("base64");

const ID_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/** An id as providers make them. */
export const newId = (prefix: string): string =>
  prefix + Array.from({ length: 24 }, () => ID_LETTERS[randomInt(ID_LETTERS.length)]).join("");
