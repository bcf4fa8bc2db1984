import { IdSchema, LabelSchema } from "../protocol/api/ids";
import type { App, Call } from "./api-env";
import { ApiError } from "./errors";
import type { Documentation, Method, Operation } from "./operation";
import type { SessionStub } from "./services";
import { logError } from "../redaction/log";
import type { Principal } from "../tenancy/principal";

const METHODS: readonly Method[] = ["get", "post", "put", "delete"];

/** Name of the path parameter that matches the whole rest of a path, including slashes. */
const REST_PARAM = "path";

/** An operation of an app; `path` has parameters as `{name}`. */
type DocumentedOperation = { path: string; method: Method; documentation: Documentation };

const registered = new WeakMap<App, DocumentedOperation[]>();

function operationsOf(app: App): DocumentedOperation[] {
  const operations = registered.get(app) ?? [];
  registered.set(app, operations);
  return operations;
}

/** All operations that `route` has registered in the app, in order. */
export const documentedOperations = (app: App): readonly DocumentedOperation[] => operationsOf(app);

/**
 * Registers a path with its methods, in the app and for the OpenAPI document. `path` has parameters
 * as `{name}`. The refusal of other methods lists the supported methods in the `allow` header. GET
 * also serves HEAD.
 */
export function route(
  app: App,
  path: string,
  operations: Partial<Record<Method, Operation>>,
): void {
  const pattern = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name === REST_PARAM ? `:${name}{.+}` : `:${name}`,
  );
  const servedMethods = METHODS.filter((method) => operations[method]);
  for (const method of servedMethods) {
    const operation = operations[method];
    if (!operation) continue;
    const { handle, ...documentation } = operation;
    operationsOf(app).push({ path, method, documentation });
    app.on(method.toUpperCase(), pattern, handle);
  }
  const allowed = servedMethods
    .flatMap((method) => (method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()]))
    .join(", ");
  app.all(pattern, () => {
    throw new ApiError(
      "method_not_allowed",
      `Method not allowed. This route supports ${allowed}.`,
      {
        headers: { allow: allowed },
      },
    );
  });
}

/** The session in the path. Throws `bad_id`, or `session_not_found` if it is not in the index. */
export async function sessionOf(context: Call): Promise<{ id: string; stub: SessionStub }> {
  const id = sessionIdOf(context);
  // Check the rest of the path first, so that the response does not depend on the session.
  turnOf(context);
  if (context.req.param("label") !== undefined) labelOf(context);
  const stub = await knownSession(context, context.var.principal, id);
  return stub ? { id, stub } : refuse("session_not_found");
}

/** The session id in the path. Throws `bad_id` if it is invalid. */
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

/** The turn number in the path; `null` for paths without one. Throws `bad_id`. */
export function turnOf(context: Call): number | null {
  const text = context.req.param("turn");
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new ApiError("bad_id", "A turn is a number from 1.");
  return Number(text);
}

/** The answer label in the path. Throws `bad_id`. */
export function labelOf(context: Call): string {
  const result = LabelSchema.safeParse(context.req.param("label"));
  if (!result.success)
    throw new ApiError("bad_id", "A label looks like `agent2.1` or `agent2.final`.");
  return result.data;
}

/** Throws the error of the API for a resource that the session does not have. */
export function refuse(code: MissingResource): never {
  throw notFound(code);
}

type MissingResource = "session_not_found" | "turn_not_found" | "answer_not_found";

export function notFound(code: MissingResource): ApiError {
  const names = {
    session_not_found: "session",
    turn_not_found: "turn",
    answer_not_found: "answer",
  };
  return new ApiError(code, `There is no such ${names[code]}.`);
}

/** The page size in the query parameter `limit`. Throws `bad_query`. */
export function limitOf(
  context: Call,
  { defaultSize, maxSize }: { defaultSize: number; maxSize: number },
): number {
  const text = context.req.query("limit") ?? String(defaultSize);
  const limit = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > maxSize)
    throw new ApiError("bad_query", `\`limit\` is a number from 1 to ${maxSize}.`);
  return limit;
}

/**
 * The caller's session; `null` if the index has no row for its id under the caller's tenant. The
 * index is asked first, because a call to a Durable Object with an unknown id would create storage.
 * The response for a session of another tenant is the same as for an unknown id. If the index
 * fails, the session is returned, because the Durable Object itself knows whether it exists.
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
    logError("session index unavailable; calling the session itself", error);
    return true;
  }
}
