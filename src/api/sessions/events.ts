import * as z from "zod";
import { EventListSchema } from "../../protocol/api/listings";
import type { StreamRequest } from "../../protocol/stream-request";
import type { App, Call } from "../api-env";
import { openStream, preferredForm } from "./streams";
import { ApiError } from "../errors";
import { EVENT_LIST, STREAM } from "./examples";
import { ID, ID_TURN, json, LAST_EVENT, limit, type Operation } from "../operation";
import { limitOf, refuse, route, sessionOf, turnOf } from "../routes";

const PAGE = { defaultSize: 100, maxSize: 1_000 };

const QUERY = z.object({
  after: z
    .int()
    .min(0)
    .optional()
    .describe("Number of an event: only later events are returned. Default: 0, from the start"),
  detail: z
    .enum(["full", "summary"])
    .default("full")
    .describe("`summary`: without `stream.delta` events"),
  limit: limit(PAGE.defaultSize, PAGE.maxSize).describe(
    "Maximum number of events in a JSON page. Streams have no limit",
  ),
});
const JSON_PAGE = json("A page of events, or the stream", EventListSchema, EVENT_LIST);

const EVENTS: Omit<Operation, "id" | "summary"> = {
  tag: "Sessions",
  description:
    "Past events, then live events, without gaps or repeats. To resume, send the number of the last event that you have, in `Last-Event-ID` or `after`. The response is an event stream, unless `accept` prefers JSON.",
  security: [{ bearer: [] }, { ticket: [] }],
  request: { query: QUERY, headers: LAST_EVENT },
  responses: {
    200: {
      ...JSON_PAGE,
      content: {
        ...JSON_PAGE.content,
        "text/event-stream": { schema: z.string(), example: STREAM },
      },
    },
  },
  codes: [
    "bad_id",
    "bad_event_id",
    "bad_query",
    "session_not_found",
    "turn_not_found",
    "event_id_ahead",
    "too_many_readers",
  ],
  handle: showEvents,
};

const SESSION_EVENTS: Operation = {
  ...EVENTS,
  id: "followSession",
  summary: "Events of a session, over all its turns",
  request: { ...EVENTS.request, params: ID },
};

const TURN_EVENTS: Operation = {
  ...EVENTS,
  id: "followTurn",
  summary: "Events of a turn. The stream ends with the turn",
  request: { ...EVENTS.request, params: ID_TURN },
  responses: {
    ...EVENTS.responses,
    204: { description: "The turn has ended and you have its last event" },
  },
};

/** Event streams (past events, then live events) and pages of events as JSON. */
export function eventRoutes(app: App): void {
  route(app, "/api/sessions/{id}/events", { get: SESSION_EVENTS });
  route(app, "/api/sessions/{id}/turns/{turn}/events", { get: TURN_EVENTS });
}

async function showEvents(context: Call): Promise<Response> {
  const request: StreamRequest = {
    after: afterOf(context),
    turn: turnOf(context),
    deltas: includesDeltas(context),
  };
  return preferredForm(context, "stream") === "json"
    ? showPage(context, request)
    : showStream(context, request);
}

async function showStream(context: Call, request: StreamRequest): Promise<Response> {
  const { stub } = await sessionOf(context);
  const opened = await openStream(stub, request);
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
      throw new ApiError(
        "event_id_ahead",
        "The session has no event with this number yet. Use the number of an event that you received.",
      );
    case "too_many_readers": {
      const headers = { "retry-after": "30" };
      throw new ApiError("too_many_readers", "Too many readers follow this session. Retry later.", {
        headers,
      });
    }
  }
}

async function showPage(context: Call, request: StreamRequest): Promise<Response> {
  const size = limitOf(context, PAGE);
  const { stub } = await sessionOf(context);
  const result = await stub.events({ ...request, limit: size });
  if (!result.ok) return refuse(result.code);
  const { events, hasMore } = result.page;
  const [firstId, lastId] = [events[0], events.at(-1)].map((event) =>
    event ? sequenceOf(event) : null,
  );
  // Events are stored as JSON. Joining the texts keeps them identical to those of the stream.
  const text = `{"object":"list","data":[${events.join(",")}],"first_id":${firstId},"last_id":${lastId},"has_more":${hasMore}}`;
  return context.body(text, 200, { "content-type": "application/json" });
}

const sequenceOf = (event: string): number => JSON.parse(event).sequence_number;

/**
 * The number of the last event that the client has. `Last-Event-ID` takes precedence over `after`,
 * because a browser that reconnects repeats the URL and sets the header.
 */
function afterOf(context: Call): number {
  const text = context.req.header("last-event-id") || context.req.query("after");
  if (text === undefined || text === "") return 0;
  if (!/^\d{1,15}$/.test(text))
    throw new ApiError(
      "bad_event_id",
      "`Last-Event-ID` and `after` must be the number of an event.",
    );
  return Number(text);
}

function includesDeltas(context: Call): boolean {
  const detail = context.req.query("detail") ?? "full";
  if (detail !== "full" && detail !== "summary")
    throw new ApiError("bad_query", "`detail` is `full` or `summary`.");
  return detail === "full";
}
