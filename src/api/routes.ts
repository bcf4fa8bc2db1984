import type { Context, Hono } from "hono";
import { IdSchema, LabelSchema } from "../protocol/api";
import { ApiError } from "./errors";
import type { Principal } from "../tenancy/principal";
import type { Services, SessionStub } from "./services";

/** What runs before a route leaves for it. */
export type ApiEnv = { Bindings: Services; Variables: { principal: Principal } };
export type App = Hono<ApiEnv>;
export type Call = Context<ApiEnv>;
type Handler = (context: Call) => Response | Promise<Response>;

/** One path with its methods; any other method is refused by naming those it has. HEAD is served where GET is. */
export function route(app: App, path: string, handlers: { get?: Handler; post?: Handler }): void {
  if (handlers.get) app.get(path, handlers.get);
  if (handlers.post) app.post(path, handlers.post);
  const allowed = [...(handlers.get ? ["GET", "HEAD"] : []), ...(handlers.post ? ["POST"] : [])].join(", ");
  app.all(path, () => {
    throw new ApiError("method_not_allowed", `This address takes ${allowed}.`, { headers: { allow: allowed } });
  });
}

/** The session named in the path. Throws `bad_id` for what cannot be one. */
export function sessionOf(context: Call): { id: string; stub: SessionStub } {
  const id = context.req.param("id");
  if (!IdSchema.safeParse(id).success || id === undefined) {
    throw new ApiError("bad_id", "A session id is 10 to 64 lower-case letters, digits and underscores.");
  }
  return { id, stub: context.env.session(context.var.principal, id) };
}

/** The turn number named in the path; null on paths without one. */
export function turnOf(context: Call): number | null {
  const text = context.req.param("turn");
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new ApiError("bad_id", "A turn is a number from 1.");
  return Number(text);
}

export function labelOf(context: Call): string {
  const result = LabelSchema.safeParse(context.req.param("label"));
  if (!result.success) throw new ApiError("bad_id", "A label looks like `agent2.1` or `agent2.final`.");
  return result.data;
}

/** A refusal of the session as an error of the API. */
export function refuse(code: "session_not_found" | "turn_not_found" | "answer_not_found"): never {
  const what = { session_not_found: "session", turn_not_found: "turn", answer_not_found: "answer" }[code];
  throw new ApiError(code, `There is no such ${what}.`);
}
