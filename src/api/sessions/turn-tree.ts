import * as z from "zod";
import {
  HeadRequestSchema,
  HeadSchema,
  type TurnList,
  TurnListSchema,
} from "../../protocol/api/listings";
import type { App, Call } from "../api-env";
import { readBody } from "../bodies/read-body";
import { ApiError } from "../errors";
import { ID, json, limit, type Operation } from "../operation";
import { limitOf, notFound, refuse, route, sessionOf } from "../routes";
import { HEAD, TURN_LIST } from "./examples";

const PAGE = { defaultSize: 100, maxSize: 1_000 };

/** The turns of a session, as a tree: each turn names its parent. */
export const TURN_LIST_OPERATION: Operation = {
  id: "listTurns",
  tag: "Sessions",
  summary: "The tree of a session's turns, and its head",
  description:
    "Each turn names its parent. The head is the turn that the next turn follows unless it names another. For the next page, set `after` to the `last_id` of this one.",
  request: {
    params: ID,
    query: z.object({
      limit: limit(PAGE.defaultSize, PAGE.maxSize),
      after: z
        .int()
        .min(0)
        .optional()
        .describe("Number of a turn: only later turns are returned. Default: from the first"),
    }),
  },
  responses: { 200: json("A page of turns, the first one first", TurnListSchema, TURN_LIST) },
  codes: ["bad_id", "bad_query", "session_not_found"],
  handle: listTurns,
};

const HEAD_OPERATION: Operation = {
  id: "moveHead",
  tag: "Runs",
  summary: "Choose the turn that the next question follows",
  description:
    "Changes no turn and no file. A turn that starts becomes the head again. Safe to repeat.",
  request: {
    params: ID,
    body: { "application/json": { schema: HeadRequestSchema, example: { turn: 1 } } },
  },
  responses: { 200: json("The head", HeadSchema, HEAD) },
  codes: [
    ...(["bad_json", "body_too_large", "request_invalid", "unsupported_media_type"] as const),
    ...(["bad_id", "session_not_found", "turn_not_found", "turn_running"] as const),
  ],
  handle: moveHead,
};

/** Route that moves the head of a session. */
export function headRoutes(app: App): void {
  route(app, "/api/sessions/{id}/head", { post: HEAD_OPERATION });
}

async function listTurns(context: Call): Promise<Response> {
  const size = limitOf(context, PAGE);
  const after = afterOf(context);
  const { stub } = await sessionOf(context);
  const result = await stub.turns(after, size);
  if (!result.ok) return refuse(result.code);
  const { turns, hasMore, head } = result;
  const body: TurnList = {
    object: "list",
    data: turns,
    first_id: turns[0]?.turn ?? null,
    last_id: turns.at(-1)?.turn ?? null,
    has_more: hasMore,
    head,
  };
  return context.json(body);
}

function afterOf(context: Call): number {
  const text = context.req.query("after") ?? "0";
  if (!/^\d{1,9}$/.test(text)) throw new ApiError("bad_query", "`after` is the number of a turn.");
  return Number(text);
}

async function moveHead(context: Call): Promise<Response> {
  const { id, stub } = await sessionOf(context);
  const { turn } = await readBody(context.req.raw, HeadRequestSchema);
  const result = await stub.moveHead(turn);
  if (result.ok) return context.json({ session_id: id, head: result.head });
  if (result.code !== "turn_running") throw notFound(result.code);
  const message = `Turn ${result.turn} is running. Wait until it ends, or cancel it.`;
  throw new ApiError("turn_running", message, { turn: result.turn });
}
