import type { StoredOAuthTokens } from "@modelcontextprotocol/client";
import { hashOf } from "../../workspace/snapshot";
import { Mutex } from "../../async/mutex";

/** Storage of texts by id. A `Map` works for storage that ends with the process. */
export type TokenStorage = {
  get(id: string): string | undefined;
  set(id: string, text: string): unknown;
};

/**
 * Renewed tokens. `operatorTokens` is a hash of the operator's tokens from which they were renewed.
 */
type StoredTokens = { given: string; tokens: StoredOAuthTokens };

/**
 * Time limit of a renewal. After this time, the next renewal may start, so that an issuer that does
 * not answer cannot block other callers.
 */
const RENEWAL_MS = 30_000;

/**
 * Stores renewed tokens for longer than a connection exists. A refresh token may be valid only
 * once, so after a renewal the operator's token may be useless. If the operator replaces the
 * tokens, the renewals of the old tokens are not used any more. `id` identifies the owner and is
 * not secret.
 */
export class RenewedTokens {
  readonly #storage: TokenStorage;
  /** One mutex for each id. */
  readonly #mutexes = new Map<string, Mutex>();

  constructor(storage: TokenStorage) {
    this.#storage = storage;
  }

  /** The last renewal of these operator tokens; `null` if they were not renewed yet. */
  async find(id: string, operatorTokens: StoredOAuthTokens): Promise<StoredOAuthTokens | null> {
    const text = this.#storage.get(id);
    if (text === undefined) return null;
    const stored: StoredTokens = JSON.parse(text);
    return stored.given === (await fingerprintOf(operatorTokens)) ? stored.tokens : null;
  }

  /** Stores tokens that were renewed from these operator tokens. */
  async keep(
    id: string,
    operatorTokens: StoredOAuthTokens,
    tokens: StoredOAuthTokens,
  ): Promise<void> {
    const stored: StoredTokens = { given: await fingerprintOf(operatorTokens), tokens };
    this.#storage.set(id, JSON.stringify(stored));
  }

  /** Runs one renewal at a time for each id. A caller that waited can then `find` the result. */
  async inTurn(id: string, renew: () => Promise<void>): Promise<void> {
    const mutex = this.#mutexes.get(id) ?? new Mutex();
    this.#mutexes.set(id, mutex);
    const release = await mutex.acquire();
    const timer = setTimeout(release, RENEWAL_MS);
    try {
      await renew();
    } finally {
      clearTimeout(timer);
      release();
    }
  }
}

const fingerprintOf = (operatorTokens: StoredOAuthTokens): Promise<string> =>
  hashOf(new TextEncoder().encode(JSON.stringify(operatorTokens)));
