import type { StoredOAuthTokens } from "@modelcontextprotocol/client";
import { hashOf } from "../../workspace/snapshot";
import { Mutex } from "../../async/mutex";

/** Storage of texts by id. A `Map` works for storage that ends with the process. */
export type TokenStorage = {
  get(id: string): string | undefined;
  set(id: string, text: string): unknown;
};

/** `given` is a hash of the operator's tokens that these were renewed from. */
type StoredTokens = { given: string; tokens: StoredOAuthTokens };

/**
 * Timeout of a renewal, after which the next one may start: an issuer that does not answer must not
 * block the others.
 */
const RENEWAL_MS = 30_000;

/**
 * Renewed tokens, beyond connections: a refresh token may be valid once, so the operator's is then
 * used up. Tokens that the operator replaces take precedence over earlier renewals. `id` identifies
 * the owner and is not secret.
 */
export class RenewedTokens {
  readonly #storage: TokenStorage;
  /** Mutexes by id. */
  readonly #turns = new Map<string, Mutex>();

  constructor(storage: TokenStorage) {
    this.#storage = storage;
  }

  /** The latest renewal of these operator tokens; `null` if there is none or the tokens are new. */
  async find(id: string, given: StoredOAuthTokens): Promise<StoredOAuthTokens | null> {
    const text = this.#storage.get(id);
    if (text === undefined) return null;
    const kept: StoredTokens = JSON.parse(text);
    return kept.given === (await markOf(given)) ? kept.tokens : null;
  }

  async keep(id: string, given: StoredOAuthTokens, tokens: StoredOAuthTokens): Promise<void> {
    const kept: StoredTokens = { given: await markOf(given), tokens };
    this.#storage.set(id, JSON.stringify(kept));
  }

  /** Runs one renewal at a time; the next caller finds its result. */
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
