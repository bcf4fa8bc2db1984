import * as z from "zod";
import type { SessionRow } from "../../../d1/session-index";
import { IdSchema } from "../../protocol/api/ids";
import { type SessionList, SessionListSchema } from "../../protocol/api/listings";
import { sessionPath, SESSIONS_PATH } from "../../protocol/paths";
import type { App, Call } from "../api-env";
import type { StoredSessions } from "../services";
import { ApiError } from "../errors";
import { SESSION_LIST } from "./examples";
import { json, limit, type Operation } from "../operation";
import { limitOf, route } from "../routes";

const PAGE = { defaultSize: 20, maxSize: 100 };
/**
 * Maximum age of an interrupted start in the index. A client can continue the start while its
 * idempotency key is stored, which is less than this time.
 */
const MAX_STARTING_MS = 2 * 24 * 60 * 60 * 1_000;

const LIST_OPERATION: Operation = {
  id: "listSessions",
  tag: "Sessions",
  summary: "Your sessions, newest first",
  description:
    "For the next page, set `after` to the `last_id` of this one. The status of a session is a request of its own.",
  request: {
    query: z.object({
      limit: limit(PAGE.defaultSize, PAGE.maxSize),
      after: IdSchema.optional().describe(
        "Id of a session: only older sessions are returned. Default: from the newest",
      ),
    }),
  },
  responses: { 200: json("A page of sessions", SessionListSchema, SESSION_LIST) },
  codes: ["bad_query"],
  handle: listSessions,
};

/** Route that lists sessions. */
export function sessionListRoutes(app: App): void {
  route(app, SESSIONS_PATH, { get: LIST_OPERATION });
}

async function listSessions(context: Call): Promise<Response> {
  const size = limitOf(context, PAGE);
  const rows = await visibleRows(context, afterOf(context), size + 1);
  const shown = rows.slice(0, size);
  const body: SessionList = {
    object: "list",
    data: shown.map((row) => ({
      id: row.id,
      created_at: row.created_at / 1_000,
      question_preview: row.question_preview,
      links: { session: sessionPath(row.id), events: `${sessionPath(row.id)}/events` },
    })),
    first_id: shown[0]?.id ?? null,
    last_id: shown.at(-1)?.id ?? null,
    has_more: rows.length > size,
  };
  return context.json(body);
}

function afterOf(context: Call): string | null {
  const after = context.req.query("after");
  if (after === undefined) return null;
  if (!IdSchema.safeParse(after).success)
    throw new ApiError("bad_query", "`after` is the id of a session.");
  return after;
}

/** Returns `size` rows of existing sessions, or fewer at the end of the index. */
async function visibleRows(
  context: Call,
  after: string | null,
  size: number,
): Promise<SessionRow[]> {
  const { index } = context.env.stored;
  const visible: SessionRow[] = [];
  let before = after;
  for (;;) {
    const rows = await index.page(context.var.principal.tenant, before, size);
    const exist = await Promise.all(rows.map((row) => sessionExists(context, row)));
    visible.push(...rows.filter((_, index) => exist[index]));
    before = rows.at(-1)?.id ?? null;
    if (visible.length >= size || rows.length < size) return visible.slice(0, size);
  }
}

/**
 * Whether the session of a row exists. If the row has the state `starting`, asks the Durable Object
 * and then updates the row.
 */
async function sessionExists(
  { env, var: { principal } }: Call,
  { id, state, created_at }: SessionRow,
): Promise<boolean> {
  if (state === "started") return true;
  const { index } = env.stored;
  const { ok } = await env.session(principal, id).turn(1);
  if (ok) env.tenancy.later(index.confirm(principal.tenant, id));
  else if (Date.now() - created_at > MAX_STARTING_MS)
    env.tenancy.later(dropStart(env.stored, principal.tenant, id));
  return ok;
}

/** Removes an interrupted start. It may have stored attachments of its question. */
async function dropStart(
  { index, eraseFiles }: StoredSessions,
  tenant: string,
  id: string,
): Promise<void> {
  await eraseFiles(tenant, id);
  await index.drop(tenant, id);
}
