import { randomBytes } from "node:crypto";
import {
  NONCE_BYTES,
  open,
  parseSealingKeys,
  seal,
  type SealingKeys,
  versionOf,
} from "../../../src/tenancy/sealing";
import type { TokenStorage } from "../../../src/tools/mcp/renewed-tokens";
import { type Env, readSecret } from "../../../src/env";
import type { Sql } from "../object-storage";

/** Longest text of tokens that is stored. The tokens of issuers are far shorter. */
const MAX_STORED_CHARS = 64 * 1024;

/**
 * Renewed OAuth tokens of a session. They are stored sealed, like callers' keys, and are deleted
 * with the session. Two kinds of tokens are not stored but kept in memory until a restart: tokens
 * that are longer than `MAX_STORED_CHARS`, and all tokens if `SEALING_KEYS` is not set.
 */
export class TokenStore implements TokenStorage {
  readonly #sql: Sql;
  readonly #holder: { tenant: string; session: string };
  readonly #sealing: SealingKeys | null;
  /** Tokens that are not stored, as plain text. */
  readonly #unsealed = new Map<string, string>();

  constructor(
    env: Pick<Env, "SEALING_KEYS">,
    holder: { tenant: string; session: string },
    sql: Sql,
  ) {
    this.#sql = sql;
    this.#holder = holder;
    const parsed = parseSealingKeys(readSecret(env, "SEALING_KEYS"));
    this.#sealing = parsed.ok ? parsed.keys : null;
  }

  /**
   * The renewed tokens; undefined if there are none or they cannot be opened. Then only the tokens
   * that the operator has set can be used.
   */
  get(id: string): string | undefined {
    const unsealed = this.#unsealed.get(id);
    if (unsealed !== undefined || !this.#sealing) return unsealed;
    const [row] = this.#sql
      .exec<{ sealed: string }>("SELECT sealed FROM renewed_tokens WHERE id = ?", id)
      .toArray();
    if (!row) return undefined;
    const opened = open(this.#sealing, row.sealed, this.#binding(id));
    if (!opened.ok) return undefined;
    if (versionOf(row.sealed) !== this.#sealing.first.version) this.set(id, opened.secret);
    return opened.secret;
  }

  /** Stores renewed tokens. */
  set(id: string, text: string): void {
    if (!this.#sealing || text.length > MAX_STORED_CHARS) {
      this.#unsealed.set(id, text);
      this.#sql.exec("DELETE FROM renewed_tokens WHERE id = ?", id);
      return;
    }
    this.#unsealed.delete(id);
    const sealed = seal(this.#sealing, text, this.#binding(id), randomBytes(NONCE_BYTES));
    this.#sql.exec("INSERT OR REPLACE INTO renewed_tokens VALUES (?, ?)", id, sealed);
  }

  /**
   * The data that tokens are sealed for. Agents never have an empty id, so sealed tokens cannot be
   * opened as an agent's key.
   */
  #binding(id: string) {
    return { ...this.#holder, agent: "", origin: id };
  }
}
