import { SessionStatusSchema, TurnResponseSchema } from "../protocol/api";
import { AnswerSchema, CancelledSchema } from "../protocol/listings";
import { ApiError } from "./errors";
import { ANSWER_TEXT, CANCELLED, STATUS, TURN_RESPONSE } from "./examples";
import { json, type Operation } from "./operation";
import { ATTEMPT, ID, ID_TURN, ID_TURN_LABEL } from "./parameters";
import { type App, type Call, labelOf, refuse, route, sessionOf, turnOf } from "./routes";

const STATUS_OPERATION: Operation = {
  id: "getSession",
  tag: "Sessions",
  summary: "How a session stands",
  description: "The fields of MassGen's `status.json` for the latest turn, with all turns, usage and cost.",
  request: { params: ID },
  answers: { 200: json("The session as it is now", SessionStatusSchema, STATUS) },
  codes: ["bad_id", "session_not_found"],
  handle: showStatus,
};

const CANCEL_OPERATION: Operation = {
  id: "cancelTurn",
  tag: "Runs",
  summary: "Cancel the running turn",
  description: "Twice is the same as once; a turn that has ended stays as it ended.",
  request: { params: ID },
  answers: { 200: json("The latest turn, and how it stands", CancelledSchema, CANCELLED) },
  codes: ["bad_id", "session_not_found"],
  handle: cancel,
};

const TURN_OPERATION: Operation = {
  id: "getTurn",
  tag: "Sessions",
  summary: "A turn: final answer, winner, votes with reasons, usage, cost",
  request: { params: ID_TURN },
  answers: { 200: json("The turn", TurnResponseSchema, TURN_RESPONSE) },
  codes: ["bad_id", "session_not_found", "turn_not_found"],
  handle: showTurn,
};

const ANSWER_OPERATION: Operation = {
  id: "getAnswer",
  tag: "Sessions",
  summary: "One answer of a turn",
  request: { params: ID_TURN_LABEL, query: ATTEMPT },
  answers: { 200: json("The answer", AnswerSchema, ANSWER_TEXT) },
  codes: ["bad_id", "bad_query", "session_not_found", "turn_not_found", "answer_not_found"],
  handle: showAnswer,
};

/** Looking at a session, and stopping it. */
export function sessionRoutes(app: App): void {
  route(app, "/api/sessions/{id}", { get: STATUS_OPERATION });
  route(app, "/api/sessions/{id}/cancel", { post: CANCEL_OPERATION });
  route(app, "/api/sessions/{id}/turns/{turn}", { get: TURN_OPERATION });
  route(app, "/api/sessions/{id}/turns/{turn}/answers/{label}", { get: ANSWER_OPERATION });
}

async function showStatus(context: Call): Promise<Response> {
  const result = await sessionOf(context).stub.status();
  return result.ok ? context.json(result.status) : refuse(result.code);
}

async function cancel(context: Call): Promise<Response> {
  const { id, stub } = sessionOf(context);
  const result = await stub.cancel();
  return result.ok ? context.json({ session_id: id, turn: result.turn, status: result.status }) : refuse(result.code);
}

async function showTurn(context: Call): Promise<Response> {
  const result = await sessionOf(context).stub.turn(turnOf(context) ?? 0);
  return result.ok ? context.json(result.turn) : refuse(result.code);
}

async function showAnswer(context: Call): Promise<Response> {
  const attempt = context.req.query("attempt");
  if (attempt !== undefined && !/^[1-9]\d{0,8}$/.test(attempt)) throw new ApiError("bad_query", "`attempt` is a number from 1.");
  const { stub } = sessionOf(context);
  const result = await stub.answer(turnOf(context) ?? 0, labelOf(context), attempt === undefined ? null : Number(attempt));
  return result.ok ? context.json(result.answer) : refuse(result.code);
}
