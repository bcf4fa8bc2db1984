import { hashSecret, SECRET_BYTES } from "./keys";
import { isTenant } from "./principal";

/**
 * Tickets let a browser's `EventSource`, which cannot send headers, open one stream once:
 * `mgt_<secret>_<tenant>`. The tenant locates the session's object, which stores its tickets.
 */
const TICKET = /^mgt_([A-Za-z0-9_-]{43})_([a-z0-9_]{3,40})$/;
export const TICKET_LIFE_MS = 60_000;
/** Unused tickets per session; beyond it the oldest become invalid. */
export const MAX_OPEN_TICKETS = 1_000;

/** A ticket for its owner, and its stored hash. */
export function toTicket(tenant: string, random: Uint8Array): { ticket: string; hash: string } {
  if (!isTenant(tenant) || random.byteLength !== SECRET_BYTES)
    throw new Error("a ticket has a tenant and 256 bits");
  const ticket = `mgt_${Buffer.from(random).toString("base64url")}_${tenant}`;
  return { ticket, hash: hashSecret(ticket) };
}

/** The tenant in a ticket; `null` if the text is not a ticket. */
export const tenantOfTicket = (ticket: string): string | null => TICKET.exec(ticket)?.[2] ?? null;

/** The hash that the session's object looks up. */
export const hashTicket = hashSecret;
