import type {
  BusyRefusal,
  QueuedStart,
  QueueRefusal,
} from "../../../durable-objects/session/session-api";
import { lazy } from "../../async/lazy";
import type { Team } from "../../config/team";
import type { TurnRequest } from "../../protocol/api";
import { IdSchema } from "../../protocol/api/ids";
import {
  type QueuedResponse,
  type QueuedTurn,
  QueuedTurnSchema,
  QueueSchema,
} from "../../protocol/api/queue";
import { queuedLinks, sessionPath } from "../../protocol/paths";
import type { App, Call } from "../api-env";
import { ApiError, type Fault } from "../errors";
import { ID, json, type Operation } from "../operation";
import { refuse, route, sessionOf } from "../routes";
import { QUEUE, QUEUED_TURN } from "./examples";

/** It contains the tables of models and their prices. */
const overridesPart = lazy(() => import("../../config/turn-overrides"));

/** What a request for a turn does in a busy session, for the documentation. */
export const QUEUE_TEXT =
  "A session is busy while a turn runs, or while queued requests are about to start. `on_busy` says what happens then. At most 10 requests are queued. A queued request gets its number, its parent (the head, unless it names one), its contexts and its budget when it starts. If it is refused then, its turn fails with the code of the refusal; it waits for `quota_exceeded` and `spend_exceeded`. The response to a queued request is always JSON.";

const LIST_OPERATION: Operation = {
  id: "getQueue",
  tag: "Sessions",
  summary: "The requests that wait for their turns",
  description:
    "Each stream of the session also gets the queue: once at its start if it is not empty, and after each change, as the event `queue.changed`, which has no id.",
  request: { params: ID },
  responses: { 200: json("The queue", QueueSchema, QUEUE) },
  codes: ["bad_id", "session_not_found"],
  handle: showQueue,
};

const RESUME_OPERATION: Operation = {
  id: "resumeQueue",
  tag: "Runs",
  summary: "Resume a held queue",
  description:
    "After a cancelled or failed turn the queue starts nothing until it is resumed. Its requests then start with the authority of the key of this request. Safe to repeat.",
  request: { params: ID },
  responses: { 200: json("The queue", QueueSchema, QUEUE) },
  codes: ["bad_id", "session_not_found"],
  handle: resume,
};

const ID_QUEUED = ID.extend({ queued: IdSchema.describe("Id of the request in the queue") });

const SHOW_OPERATION: Operation = {
  id: "getQueued",
  tag: "Sessions",
  summary: "A queued request, and its turn once it has started",
  request: { params: ID_QUEUED },
  responses: { 200: json("The request", QueuedTurnSchema, QUEUED_TURN) },
  codes: ["bad_id", "session_not_found", "queued_not_found"],
  handle: showQueued,
};

const REMOVE_OPERATION: Operation = {
  id: "removeQueued",
  tag: "Runs",
  summary: "Remove a request from the queue",
  description: "Also removes its attachments. The requests after it move forward.",
  request: { params: ID_QUEUED },
  responses: { 204: { description: "Removed" } },
  codes: ["bad_id", "session_not_found", "queued_not_found", "queued_turn_started"],
  handle: remove,
};

/** Routes of the requests that wait for their turns. */
export function queueRoutes(app: App): void {
  route(app, "/api/sessions/{id}/queue", { get: LIST_OPERATION });
  route(app, "/api/sessions/{id}/queue/resume", { post: RESUME_OPERATION });
  route(app, "/api/sessions/{id}/queue/{queued}", {
    get: SHOW_OPERATION,
    delete: REMOVE_OPERATION,
  });
}

/** A queued request. `warnings`: see `queuedWarnings`. */
type QueuedRequest = {
  session: string;
  queued: QueuedStart["queued"];
  warnings: readonly Fault[];
};

/** The response to a request that was queued. */
export function respondQueued(
  context: Call,
  { session, queued, warnings }: QueuedRequest,
): Response {
  const body: QueuedResponse = {
    session_id: session,
    status: "queued",
    queued,
    links: queuedLinks(session, queued.id),
    ...(warnings.length > 0 && { warnings: [...warnings] }),
  };
  return context.json(body, 202, { location: sessionPath(session) });
}

/**
 * Warnings about the team that a queued request brings, and about its overrides. Without a team of
 * its own, its team is known only when its turn starts. `parsed`: `null` if it brings no team.
 */
export async function queuedWarnings(
  parsed: { team: Team; warnings: readonly Fault[] } | null,
  { overrides }: Pick<TurnRequest, "overrides">,
): Promise<readonly Fault[]> {
  if (parsed === null || !overrides) return parsed?.warnings ?? [];
  const { withOverrides } = await overridesPart();
  const changed = withOverrides(parsed.team, overrides);
  return [...parsed.warnings, ...(changed.ok ? changed.warnings : [])];
}

/** The error for a turn that a busy session refuses. `mayQueue`: whether it could wait instead. */
export function busyError(refusal: BusyRefusal, mayQueue = true): ApiError {
  switch (refusal.code) {
    case "turn_running": {
      const { turn } = refusal;
      const advice = mayQueue
        ? "Wait until it ends, cancel it, or send `on_busy`: `queue` or `interrupt`."
        : "Wait until it ends, or cancel it.";
      const message = `Turn ${turn} is running. ${advice}`;
      return new ApiError("turn_running", message, { turn });
    }
    case "queue_not_empty": {
      const { queued } = refusal;
      const first = queued === 1 ? "A queued request starts" : `${queued} queued requests start`;
      const advice = mayQueue
        ? "Send `on_busy`: `queue` to wait, or `interrupt` to start before."
        : "Wait until the queue is empty.";
      const message = `${first} first. ${advice}`;
      return new ApiError("queue_not_empty", message, { queued });
    }
    case "queue_full": {
      const { most: limit } = refusal;
      const message = `The queue is full: ${limit} requests wait. Remove one, or wait until a turn ends.`;
      return new ApiError("queue_full", message, { limit });
    }
  }
}

async function showQueue(context: Call): Promise<Response> {
  const { id, stub } = await sessionOf(context);
  const result = await stub.readQueue();
  return result.ok ? context.json({ session_id: id, ...result.queue }) : refuse(result.code);
}

async function resume(context: Call): Promise<Response> {
  const { id, stub } = await sessionOf(context);
  const result = await stub.resumeQueue();
  return result.ok ? context.json({ session_id: id, ...result.queue }) : refuse(result.code);
}

async function showQueued(context: Call): Promise<Response> {
  const queued = queuedIdOf(context);
  const { id: session_id, stub } = await sessionOf(context);
  const result = await stub.queued(queued);
  if (!result.ok) return refuseQueued(result);
  const { position, turn } = result;
  const body: QueuedTurn = { session_id, id: queued, position, turn };
  return context.json(body);
}

async function remove(context: Call): Promise<Response> {
  const queued = queuedIdOf(context);
  const { stub } = await sessionOf(context);
  const result = await stub.removeQueued(queued);
  return result.ok ? context.body(null, 204) : refuseQueued(result);
}

function queuedIdOf(context: Call): string {
  const id = context.req.param("queued");
  if (id === undefined || !IdSchema.safeParse(id).success)
    throw new ApiError(
      "bad_id",
      "The id of a queued request is 10 to 64 lower-case letters, digits and underscores.",
    );
  return id;
}

function refuseQueued(
  refusal: QueueRefusal | { ok: false; code: Parameters<typeof refuse>[0] },
): never {
  switch (refusal.code) {
    case "queued_not_found":
      throw new ApiError(
        "queued_not_found",
        "The queue has no such request: it was removed, or never queued.",
      );
    case "queued_turn_started": {
      const { turn } = refusal;
      const message = `The request has already started turn ${turn}. To stop the turn, cancel it.`;
      throw new ApiError("queued_turn_started", message, { turn });
    }
    default:
      return refuse(refusal.code);
  }
}
