import { SessionStatusSchema, TurnResponseSchema } from "../../protocol/api";
import { type Answer, AnswerSchema, CancelledSchema } from "../../protocol/api/listings";
import { answerFilesPath } from "../../protocol/paths";
import type { App, Call } from "../api-env";
import { ApiError } from "../errors";
import { ANSWER_TEXT, CANCELLED, STATUS, TURN_RESPONSE } from "./examples";
import { ATTEMPT, ID, ID_TURN, ID_TURN_LABEL, json, type Operation } from "../operation";
import { labelOf, refuse, route, sessionIdOf, sessionOf, turnOf } from "../routes";

const STATUS_OPERATION: Operation = {
  id: "getSession",
  tag: "Sessions",
  summary: "Status of a session",
  description:
    "The fields of MassGen's `status.json` for the latest turn, with all turns, usage and cost. A turn of the kind `compact` counts as the latest turn only while it runs.",
  request: { params: ID },
  responses: { 200: json("The current status", SessionStatusSchema, STATUS) },
  codes: ["bad_id", "session_not_found"],
  handle: showStatus,
};

const CANCEL_OPERATION: Operation = {
  id: "cancelTurn",
  tag: "Runs",
  summary: "Cancel the running turn",
  description: "Safe to repeat. A turn that has ended stays unchanged.",
  request: { params: ID },
  responses: { 200: json("The latest turn and its status", CancelledSchema, CANCELLED) },
  codes: ["bad_id", "session_not_found"],
  handle: cancel,
};

const TURN_OPERATION: Operation = {
  id: "getTurn",
  tag: "Sessions",
  summary:
    "A turn: final answer, agents with their errors, winner, votes with reasons, usage, cost",
  request: { params: ID_TURN },
  responses: { 200: json("The turn", TurnResponseSchema, TURN_RESPONSE) },
  codes: ["bad_id", "session_not_found", "turn_not_found"],
  handle: showTurn,
};

const ANSWER_OPERATION: Operation = {
  id: "getAnswer",
  tag: "Sessions",
  summary: "One answer of a turn",
  request: { params: ID_TURN_LABEL, query: ATTEMPT },
  responses: { 200: json("The answer", AnswerSchema, ANSWER_TEXT) },
  codes: ["bad_id", "bad_query", "session_not_found", "turn_not_found", "answer_not_found"],
  handle: showAnswer,
};

const ERASE_OPERATION: Operation = {
  id: "eraseSession",
  tag: "Sessions",
  summary: "Stop a session and erase all its data",
  description:
    "Cancels a running turn, ends streams and erases everything that is stored for the session. If interrupted, repeat the request to finish.",
  request: { params: ID },
  responses: { 204: { description: "Erased" } },
  codes: ["bad_id", "session_not_found"],
  handle: erase,
};

/** Routes that read, cancel and erase a session. */
export function statusRoutes(app: App): void {
  route(app, "/api/sessions/{id}", { get: STATUS_OPERATION, delete: ERASE_OPERATION });
  route(app, "/api/sessions/{id}/cancel", { post: CANCEL_OPERATION });
  route(app, "/api/sessions/{id}/turns/{turn}", { get: TURN_OPERATION });
  route(app, "/api/sessions/{id}/turns/{turn}/answers/{label}", { get: ANSWER_OPERATION });
}

async function showStatus(context: Call): Promise<Response> {
  const result = await (await sessionOf(context)).stub.status();
  return result.ok ? context.json(result.status) : refuse(result.code);
}

async function cancel(context: Call): Promise<Response> {
  const { id, stub } = await sessionOf(context);
  const result = await stub.cancel();
  return result.ok
    ? context.json({ session_id: id, turn: result.turn, status: result.status })
    : refuse(result.code);
}

/** Erases a session. Removes the index row last, so that an interrupted erasure can be repeated. */
async function erase(context: Call): Promise<Response> {
  const id = sessionIdOf(context);
  const { principal } = context.var;
  const { tenant } = principal;
  const { index, eraseFiles } = context.env.stored;
  if (!(await index.markErasing(tenant, id))) return refuse("session_not_found");
  await context.env.session(principal, id).erase();
  await eraseFiles(tenant, id);
  await index.remove(tenant, id);
  return context.body(null, 204);
}

async function showTurn(context: Call): Promise<Response> {
  const result = await (await sessionOf(context)).stub.turn(turnOf(context) ?? 0);
  return result.ok ? context.json(result.turn) : refuse(result.code);
}

async function showAnswer(context: Call): Promise<Response> {
  const attempt = context.req.query("attempt");
  if (attempt !== undefined && !/^[1-9]\d{0,8}$/.test(attempt))
    throw new ApiError("bad_query", "`attempt` is a number from 1.");
  const { id: sessionId, stub } = await sessionOf(context);
  const turn = turnOf(context) ?? 0;
  const result = await stub.answer(
    turn,
    labelOf(context),
    attempt === undefined ? null : Number(attempt),
  );
  if (!result.ok) return refuse(result.code);
  const { hasFiles, ...answer } = result.answer;
  const body: Answer = {
    ...answer,
    files: hasFiles ? answerFilesPath({ sessionId, turn, ...answer }) : null,
  };
  return context.json(body);
}
