import { ApiError } from "./errors";
import { type App, type Call, labelOf, refuse, route, sessionOf, turnOf } from "./routes";

/** Looking at a session, and stopping it. */
export function sessionRoutes(app: App): void {
  route(app, "/api/sessions/:id", { get: showStatus });
  route(app, "/api/sessions/:id/cancel", { post: cancel });
  route(app, "/api/sessions/:id/turns/:turn", { get: showTurn });
  route(app, "/api/sessions/:id/turns/:turn/answers/:label", { get: showAnswer });
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
