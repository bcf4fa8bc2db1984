import type { StoredOAuthTokens } from "@modelcontextprotocol/client";
import { hashOf } from "../../workspace/snapshot";
import { Mutex } from "../../async/mutex";

/** Texts by id, for as long as a session's renewed tokens are to last. A `Map` is one that ends with the process. */
export type TokenShelf = {
  get(id: string): string | undefined;
  set(id: string, text: string): unknown;
};

/** `given`: which tokens of the operator's these were renewed from. */
type Kept = { given: string; tokens: StoredOAuthTokens };

/** For a renewal, until the next may begin beside it: an issuer that does not answer must not keep all others waiting. */
const RENEWAL_MS = 30_000;

/**
 * Tokens as they were last renewed, beyond connections: a refresh token may serve once, and then the operator's is used up. Tokens
 * that the operator has set anew win over what was renewed from those before. `id`: whose they are; no secret.
 */
export class RenewedTokens {
  readonly #shelf: TokenShelf;
  /** By id. */
  readonly #turns = new Map<string, Mutex>();

  constructor(shelf: TokenShelf) {
    this.#shelf = shelf;
  }

  /** What these tokens of the operator's were last renewed to; null: never, or these are new. */
  async find(id: string, given: StoredOAuthTokens): Promise<StoredOAuthTokens | null> {
    const text = this.#shelf.get(id);
    if (text === undefined) return null;
    const kept: Kept = JSON.parse(text);
    return kept.given === (await markOf(given)) ? kept.tokens : null;
  }

  async keep(id: string, given: StoredOAuthTokens, tokens: StoredOAuthTokens): Promise<void> {
    const kept: Kept = { given: await markOf(given), tokens };
    this.#shelf.set(id, JSON.stringify(kept));
  }

  /** One renewal at a time: the next finds what came of it. */
  async inTurn(id: string, renew: () => Promise<void>): Promise<void> {
    const turns = this.#turns.get(id) ?? new Mutex();
    this.#turns.set(id, turns);
    const release = await turns.acquire();
    const timer = setTimeout(release, RENEWAL_MS);
    try {
      await renew();
    } finally {
      clearTimeout(timer);
      release();
    }
  }
}

const markOf = (given: StoredOAuthTokens): Promise<string> =>
  hashOf(new TextEncoder().encode(JSON.stringify(given)));
