import { IdSchema, LabelSchema } from "../protocol/api";
import type { App, Call } from "./api-env";
import { ApiError } from "./errors";
import { type Method, type Operation, toRoute } from "./operation";
import type { SessionStub } from "./services";
import { logError } from "../redaction/log";
import type { Principal } from "../tenancy/principal";

const METHODS: readonly Method[] = ["get", "post", "put", "delete"];

/** The name that stands for all that is left of an address, slashes and all. */
const REST = "path";

/**
 * One path, written with `{name}`, with its methods: served, and told of in the OpenAPI document. Any other method is refused by
 * naming those it has. HEAD is served where GET is.
 */
export function route(
  app: App,
  path: string,
  operations: Partial<Record<Method, Operation>>,
): void {
  const pattern = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name === REST ? `:${name}{.+}` : `:${name}`,
  );
  const served = METHODS.filter((method) => operations[method]);
  for (const method of served) {
    const operation = operations[method];
    if (!operation) continue;
    const { handle, ...described } = operation;
    app.openAPIRegistry.registerPath(toRoute(path, method, described));
    app.on(method.toUpperCase(), pattern, handle);
  }
  const allowed = served
    .flatMap((method) => (method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()]))
    .join(", ");
  app.all(pattern, () => {
    throw new ApiError("method_not_allowed", `This address takes ${allowed}.`, {
      headers: { allow: allowed },
    });
  });
}

/** The session named in the path. Throws `bad_id` for what cannot be one, `session_not_found` for one that the index lacks. */
export async function sessionOf(context: Call): Promise<{ id: string; stub: SessionStub }> {
  const id = sessionIdOf(context);
  // What is wrong with the rest of the address is said first, of every session in the same words.
  turnOf(context);
  if (context.req.param("label") !== undefined) labelOf(context);
  const stub = await knownSession(context, context.var.principal, id);
  return stub ? { id, stub } : refuse("session_not_found");
}

/** The session's id in the path. Throws `bad_id` for what cannot be one. */
export function sessionIdOf(context: Call): string {
  const id = context.req.param("id");
  if (!IdSchema.safeParse(id).success || id === undefined) {
    throw new ApiError(
      "bad_id",
      "A session id is 10 to 64 lower-case letters, digits and underscores.",
    );
  }
  return id;
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
  if (!result.success)
    throw new ApiError("bad_id", "A label looks like `agent2.1` or `agent2.final`.");
  return result.data;
}

/** A refusal of the session as an error of the API. */
export function refuse(code: Missing): never {
  throw notFound(code);
}

type Missing = "session_not_found" | "turn_not_found" | "answer_not_found";

export function notFound(code: Missing): ApiError {
  const what = { session_not_found: "session", turn_not_found: "turn", answer_not_found: "answer" }[
    code
  ];
  return new ApiError(code, `There is no such ${what}.`);
}

/** How many a page may hold, as asked in `limit`. */
export function limitOf(context: Call, { usual, most }: { usual: number; most: number }): number {
  const text = context.req.query("limit") ?? String(usual);
  const limit = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > most)
    throw new ApiError("bad_query", `\`limit\` is a number from 1 to ${most}.`);
  return limit;
}

/**
 * The caller's session, or null where the index has no row of it. A call to an object makes its storage, so a made-up id must not
 * get that far. Another tenant's id has no row under this tenant: the query and the answer are those of an unknown id. When the
 * index fails, the object is asked all the same, because it knows itself whether it is there.
 */
export async function knownSession(
  context: Call,
  caller: Principal,
  id: string,
): Promise<SessionStub | null> {
  const { env } = context;
  if (context.get("knownSession") !== id && !(await isListed(context, caller.tenant, id)))
    return null;
  context.set("knownSession", id);
  return env.session(caller, id);
}

async function isListed({ env }: Call, tenant: string, id: string): Promise<boolean> {
  try {
    return await env.stored.index.has(tenant, id);
  } catch (error) {
    logError("the index of sessions does not answer; the session itself is asked", error);
    return true;
  }
}
