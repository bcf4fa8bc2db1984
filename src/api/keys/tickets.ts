import { TicketSchema } from "../../protocol/api/keys";
import type { App, Call } from "../api-env";
import { ID, json, type Operation } from "../operation";
import { refuse, route, sessionOf } from "../routes";

const TICKET_OPERATION: Operation = {
  id: "createTicket",
  tag: "Sessions",
  summary: "Create a ticket for one event stream of this session",
  description:
    "For a browser's `EventSource`, which cannot send headers: `/api/sessions/{id}/events?ticket=…`. A ticket is valid for 60 seconds and one request. To reconnect, use a new ticket and `after`.",
  request: { params: ID },
  responses: {
    201: json("The ticket", TicketSchema, { ticket: "mgt_…_acme", expires_at: 1_795_000_060 }),
  },
  codes: ["bad_id", "session_not_found"],
  handle: createTicket,
};

/** Route that creates tickets for event streams. */
export function ticketRoutes(app: App): void {
  route(app, "/api/sessions/{id}/tickets", { post: TICKET_OPERATION });
}

async function createTicket(context: Call): Promise<Response> {
  const issued = await (await sessionOf(context)).stub.issueTicket(context.var.principal.keyId);
  if (!issued.ok) return refuse(issued.code);
  return context.json({ ticket: issued.ticket, expires_at: issued.expiresAt / 1000 }, 201);
}
