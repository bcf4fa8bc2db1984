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

/** A row holds 2 MB; no issuer needs a hundredth of that. */
const MOST_CHARS = 64 * 1024;

/**
 * Renewed OAuth tokens of a session, for as long as the session is there: on disk, sealed as callers' keys are. What cannot be
 * sealed, because the operator has set no `SEALING_KEYS` or an issuer's tokens are absurdly long, lasts until a restart.
 */
export class TokenStore implements TokenStorage {
  readonly #sql: Sql;
  readonly #holder: { tenant: string; session: string };
  readonly #sealing: SealingKeys | null;
  /** In clear: what is not kept on disk. */
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

  /** Undefined also where it does not open any more: then the operator's tokens are all there is. */
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

  set(id: string, text: string): void {
    if (!this.#sealing || text.length > MOST_CHARS) {
      this.#unsealed.set(id, text);
      this.#sql.exec("DELETE FROM renewed_tokens WHERE id = ?", id);
      return;
    }
    this.#unsealed.delete(id);
    const sealed = seal(this.#sealing, text, this.#binding(id), randomBytes(NONCE_BYTES));
    this.#sql.exec("INSERT OR REPLACE INTO renewed_tokens VALUES (?, ?)", id, sealed);
  }

  /** No agent has an empty id, so that nothing of this opens as an agent's key. */
  #binding(id: string) {
    return { ...this.#holder, agent: "", origin: id };
  }
}
