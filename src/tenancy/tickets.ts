import { hashSecret, SECRET_BYTES } from "./keys";
import { isTenant } from "./principal";

/**
 * A ticket opens one event stream once, for a browser's `EventSource`, which cannot send headers.
 * It has the form `mgt_<secret>_<tenant>`. With the tenant, the service finds the session's Durable
 * Object, which stores the tickets of the session.
 */
const TICKET_PATTERN = /^mgt_([A-Za-z0-9_-]{43})_([a-z0-9_]{3,40})$/;
export const TICKET_LIFE_MS = 60_000;
/** Maximum number of unused tickets of a session. Beyond it, the oldest tickets become invalid. */
export const MAX_OPEN_TICKETS = 1_000;

/** Makes a ticket. The owner receives `ticket`; the service stores only `hash`. */
export function toTicket(tenant: string, random: Uint8Array): { ticket: string; hash: string } {
  if (!isTenant(tenant) || random.byteLength !== SECRET_BYTES)
    throw new Error("a ticket has a tenant and 256 bits");
  const ticket = `mgt_${Buffer.from(random).toString("base64url")}_${tenant}`;
  return { ticket, hash: hashSecret(ticket) };
}

/** The tenant in a ticket; `null` if the text is not a ticket. */
export const tenantOfTicket = (ticket: string): string | null =>
  TICKET_PATTERN.exec(ticket)?.[2] ?? null;

/** The hash by which the session's Durable Object finds a ticket. */
export const hashTicket = hashSecret;
