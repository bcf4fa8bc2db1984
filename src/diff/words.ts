import { changedTokens, type StepBudget } from "./changed-tokens";

/** A part of two texts that are compared by words. `same`: both texts have it. */
export type WordPart = { op: "same" | "deleted" | "added"; text: string };

/** Scripts without spaces between words. Each of their characters is compared on its own. */
const NO_SPACES = String.raw`[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]`;
/** A word, white space, or one other character with its combining marks. */
const TOKEN = new RegExp(
  String.raw`(?:(?!${NO_SPACES})[\p{L}\p{N}\p{M}_])+|\s+|[^\s]\p{M}*`,
  "gsu",
);

/** Compares two texts by words; `null` if this needs more steps than the budget has. */
export function wordParts(before: string, after: string, budget: StepBudget): WordPart[] | null {
  const old = before.match(TOKEN) ?? [];
  const fresh = after.match(TOKEN) ?? [];
  const changed = budget.forFile(() => changedTokens(old, fresh, budget));
  if (changed === null) return null;
  const parts = new PartBuilder();
  for (let [i, j] = [0, 0]; i < old.length || j < fresh.length; ) {
    if (changed.removed[i] === 1) parts.deleted(old[i++] ?? "");
    else if (changed.added[j] === 1) parts.added(fresh[j++] ?? "");
    else {
      parts.same(old[i++] ?? "");
      j += 1;
    }
  }
  return parts.result();
}

/**
 * Joins tokens into parts. Spaces between two changed words belong to the change, so that a
 * replaced phrase is one part and not a part for each word.
 */
class PartBuilder {
  readonly #parts: WordPart[] = [];
  #same: string[] = [];
  #deleted: string[] = [];
  #added: string[] = [];
  /** Spaces after replaced words that both texts have; "" if there are none. */
  #spaces = "";

  same(token: string): void {
    const isReplacing = this.#deleted.length > 0 && this.#added.length > 0;
    if (isReplacing && this.#spaces === "" && /^[^\S\n]+$/.test(token)) {
      this.#spaces = token;
      return;
    }
    this.#endChange();
    this.#same.push(token);
  }

  deleted(token: string): void {
    this.#beginChange();
    this.#deleted.push(token);
  }

  added(token: string): void {
    this.#beginChange();
    this.#added.push(token);
  }

  result(): WordPart[] {
    this.#endChange();
    this.#push("same", this.#same);
    return this.#parts;
  }

  #beginChange(): void {
    this.#push("same", this.#same);
    this.#same = [];
    if (this.#spaces === "") return;
    this.#deleted.push(this.#spaces);
    this.#added.push(this.#spaces);
    this.#spaces = "";
  }

  #endChange(): void {
    this.#push("deleted", this.#deleted);
    this.#push("added", this.#added);
    [this.#deleted, this.#added] = [[], []];
    if (this.#spaces !== "") this.#same.push(this.#spaces);
    this.#spaces = "";
  }

  #push(op: WordPart["op"], tokens: readonly string[]): void {
    if (tokens.length > 0) this.#parts.push({ op, text: tokens.join("") });
  }
}
