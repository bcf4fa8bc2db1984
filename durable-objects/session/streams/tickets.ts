import {
  hashTicket,
  MAX_OPEN_TICKETS,
  TICKET_LIFE_MS,
  toTicket,
} from "../../../src/tenancy/tickets";
import { SECRET_BYTES } from "../../../src/tenancy/keys";
import type { Sql } from "../object-storage";

/** The unused tickets of a session. Only their hashes are stored. */
export class Tickets {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /**
   * Issues a ticket that opens one stream, once, with the rights of the key. Times are in unix ms.
   */
  issue(tenant: string, keyId: string | null, now: number): { ticket: string; expiresAt: number } {
    const { ticket, hash } = toTicket(tenant, crypto.getRandomValues(new Uint8Array(SECRET_BYTES)));
    const expiresAt = now + TICKET_LIFE_MS;
    this.#sql.exec("DELETE FROM tickets WHERE expires_at <= ?", now);
    this.#sql.exec(
      "DELETE FROM tickets WHERE hash IN (SELECT hash FROM tickets ORDER BY expires_at DESC LIMIT -1 OFFSET ?)",
      MAX_OPEN_TICKETS - 1,
    );
    this.#sql.exec(
      "INSERT INTO tickets (hash, key_id, expires_at) VALUES (?, ?, ?)",
      hash,
      keyId,
      expiresAt,
    );
    return { ticket, expiresAt };
  }

  /**
   * Consumes a ticket. Returns its key; `null` if the ticket was used, has expired, or never
   * existed.
   */
  redeem(ticket: string, now: number): { keyId: string | null } | null {
    const query =
      "DELETE FROM tickets WHERE hash = ? RETURNING key_id AS keyId, expires_at AS expiresAt";
    const [found] = this.#sql
      .exec<{ keyId: string | null; expiresAt: number }>(query, hashTicket(ticket))
      .toArray();
    return found && found.expiresAt > now ? { keyId: found.keyId } : null;
  }
}
