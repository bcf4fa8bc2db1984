import { hashSecret, SECRET_BYTES } from "./keys";
import { isTenant } from "./principal";

/**
 * Tickets let a browser's `EventSource`, which cannot send headers, open one stream once: `mgt_<secret>_<tenant>`. The tenant is
 * there to find the session's object, which alone knows its tickets.
 */
const TICKET = /^mgt_([A-Za-z0-9_-]{43})_([a-z0-9_]{3,40})$/;
export const TICKET_LIFE_MS = 60_000;
/** Tickets of one session that nobody has used yet; beyond it the oldest are void. */
export const MAX_OPEN_TICKETS = 1_000;

/** A ticket as its owner gets it, and what is kept of it. */
export function toTicket(tenant: string, random: Uint8Array): { ticket: string; hash: string } {
  if (!isTenant(tenant) || random.byteLength !== SECRET_BYTES)
    throw new Error("a ticket has a tenant and 256 bits");
  const ticket = `mgt_${Buffer.from(random).toString("base64url")}_${tenant}`;
  return { ticket, hash: hashSecret(ticket) };
}

/** The tenant whose session the ticket says it is for; null for what is no ticket. */
export const tenantOfTicket = (ticket: string): string | null => TICKET.exec(ticket)?.[2] ?? null;

/** What the session's object looks up. */
export const hashTicket = hashSecret;
