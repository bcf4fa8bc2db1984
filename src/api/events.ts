import type { StreamRequest } from "../protocol/stream-request";
import { wantedForm } from "./accept";
import { ApiError } from "./errors";
import { type App, type Call, refuse, route, sessionOf, turnOf } from "./routes";
import { openStream } from "./open-stream";

const DEFAULT_PAGE = 100;
const MAX_PAGE = 1_000;

/** The event streams: replay, then live, or pages for who asks for JSON. */
export function eventRoutes(app: App): void {
  route(app, "/api/sessions/:id/events", { get: showEvents });
  route(app, "/api/sessions/:id/turns/:turn/events", { get: showEvents });
}

async function showEvents(context: Call): Promise<Response> {
  const asked: StreamRequest = { after: afterOf(context), turn: turnOf(context), deltas: detailOf(context) };
  return wantedForm(context, "stream") === "json" ? page(context, asked) : stream(context, asked);
}

async function stream(context: Call, asked: StreamRequest): Promise<Response> {
  const { stub } = sessionOf(context);
  const opened = await openStream(stub, asked);
  switch (opened.code) {
    case "open":
      if (context.req.method !== "HEAD") return opened.response;
      await opened.response.body?.cancel();
      return new Response(null, { headers: opened.response.headers });
    case "over":
      return new Response(null, { status: 204 });
    case "session_not_found":
    case "turn_not_found":
      return refuse(opened.code);
    case "event_id_ahead":
      throw new ApiError("event_id_ahead", "The session has no event of that number yet. Ask from a number you were given.");
    case "too_many_readers": {
      const headers = { "retry-after": "30" };
      throw new ApiError("too_many_readers", "Too many readers follow this session. Try again later.", { headers });
    }
  }
}

async function page(context: Call, asked: StreamRequest): Promise<Response> {
  const result = await sessionOf(context).stub.events({ ...asked, limit: limitOf(context) });
  if (!result.ok) return refuse(result.code);
  const { events, hasMore } = result.page;
  const ids = [events[0], events.at(-1)].map((event) => (event ? sequenceOf(event) : null));
  // The events are JSON already: putting them together as text keeps them byte for byte what the stream says.
  const text = `{"object":"list","data":[${events.join(",")}],"first_id":${ids[0]},"last_id":${ids[1]},"has_more":${hasMore}}`;
  return context.body(text, 200, { "content-type": "application/json" });
}

const sequenceOf = (event: string): number => JSON.parse(event).sequence_number;

/** `Last-Event-ID` and `after` mean the same; the header is what a reconnecting browser sets, so it is the newer one. */
function afterOf(context: Call): number {
  const text = context.req.header("last-event-id") || context.req.query("after");
  if (text === undefined || text === "") return 0;
  if (!/^\d{1,15}$/.test(text)) throw new ApiError("bad_event_id", "`Last-Event-ID` and `after` take the number of an event.");
  return Number(text);
}

function detailOf(context: Call): boolean {
  const detail = context.req.query("detail") ?? "full";
  if (detail !== "full" && detail !== "summary") throw new ApiError("bad_query", "`detail` is `full` or `summary`.");
  return detail === "full";
}

function limitOf(context: Call): number {
  const text = context.req.query("limit") ?? String(DEFAULT_PAGE);
  const limit = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_PAGE) throw new ApiError("bad_query", `\`limit\` is a number from 1 to ${MAX_PAGE}.`);
  return limit;
}
