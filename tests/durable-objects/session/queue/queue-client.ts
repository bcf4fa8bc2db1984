import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { type Orders, ordersText } from "../../../../simulated/providers/tree-models";
import type { Queue, QueuedResponse, QueuedTurn } from "../../../../src/protocol/api/queue";
import type { TurnList } from "../../../../src/protocol/api/listings";
import type { EventOf, WireEvent } from "../../../../src/protocol/events";
import { hashOf } from "../../../../src/workspace/snapshot";
import { eventsPath, parse, post, request, type Run, start, teamOf } from "../session-client";

/** Sessions with a queue, through the public API. The model does what the questions order. */

/** How each turn ends. A stalled turn runs until it is cancelled. */
export type End = Orders["ends"];

export const question = (id: number, ends: End = "completed"): string =>
  ordersText({ id, ends, reads: [], answer: [], final: [], rejected: null });

/** Starts a session whose first turn ends like this. */
export const startSession = (ends: End): Promise<Run> =>
  start(teamOf(["chronicler"]), { question: question(1, ends) });

/** Asks a question, in the way that `more` says. */
export const ask = (
  { session_id }: Pick<Run, "session_id">,
  asked: unknown,
  more: object = { on_busy: "queue" },
  headers: Record<string, string> = {},
): Promise<Response> =>
  post(`/api/sessions/${session_id}/turns`, { question: asked, ...more }, headers);

/** Queues a question; returns its id in the queue. Throws if the session was not busy. */
export async function queue(
  session: Pick<Run, "session_id">,
  asked: unknown,
  more: object = {},
): Promise<string> {
  const response = await ask(session, asked, { on_busy: "queue", ...more });
  const body = await response.json<QueuedResponse>();
  if (body.status !== "queued") throw new Error(JSON.stringify(body));
  return body.queued.id;
}

const path = ({ session_id }: Pick<Run, "session_id">) => `/api/sessions/${session_id}/queue`;

export const queueOf = async (session: Pick<Run, "session_id">): Promise<Queue> =>
  (await request(path(session))).json();
export const queued = async (session: Pick<Run, "session_id">, id: string): Promise<QueuedTurn> =>
  (await request(`${path(session)}/${id}`)).json();
export const remove = (session: Pick<Run, "session_id">, id: string): Promise<Response> =>
  request(`${path(session)}/${id}`, { method: "DELETE" });
export const resume = (session: Pick<Run, "session_id">): Promise<Response> =>
  post(`${path(session)}/resume`);
export const cancel = ({ session_id }: Pick<Run, "session_id">): Promise<Response> =>
  post(`/api/sessions/${session_id}/cancel`);

export const turnsOf = async ({ session_id }: Pick<Run, "session_id">) =>
  (await (await request(`/api/sessions/${session_id}/turns`)).json<TurnList>()).data;

/** The status of each turn, in order. */
export const statusesOf = async (session: Pick<Run, "session_id">): Promise<string[]> =>
  (await turnsOf(session)).map(({ status }) => status);

/** Waits until the session has this number of turns, and none of them runs. */
export async function untilTurns(session: Pick<Run, "session_id">, count: number): Promise<void> {
  await vi.waitUntil(
    async () => {
      const statuses = await statusesOf(session);
      return statuses.length >= count && !statuses.includes("running");
    },
    { timeout: 30_000, interval: 20 },
  );
}

/** Waits until the queue is held. */
export const untilHeld = (session: Pick<Run, "session_id">): Promise<unknown> =>
  vi.waitUntil(async () => (await queueOf(session)).held !== null, { timeout: 20_000 });

/** The stored events of all turns. */
export async function eventsOf(session: Pick<Run, "session_id">): Promise<WireEvent[]> {
  const turns = await turnsOf(session);
  const all = await Promise.all(
    turns.map(async ({ turn }) =>
      parse(
        await (await request(`${eventsPath({ ...session, turn })}?detail=summary`)).text(),
      ).filter(({ type }) => String(type) !== "queue.changed"),
    ),
  );
  return all.flat();
}

/** The `turn.started` of a turn. Throws if there is none. */
export async function startOf(
  session: Pick<Run, "session_id">,
  turn: number,
): Promise<EventOf<"turn.started">> {
  const events = await eventsOf(session);
  const started = events.find((event) => event.type === "turn.started" && event.turn === turn);
  if (started?.type !== "turn.started") throw new Error(`turn ${turn} has no start`);
  return started;
}

/** Uploads a context with one file. */
export async function pushContext(name: string, content: string): Promise<void> {
  const sha = await hashOf(new TextEncoder().encode(content));
  const body = JSON.stringify({ files: [{ path: "a.txt", sha256: sha, size: content.length }] });
  const put = (place: string, type: string, sent: string) =>
    request(`/api/contexts/${name}${place}`, {
      ...{ method: "PUT", headers: { "content-type": type }, body: sent },
    });
  const { version } = await (await put("", "application/json", body)).json<{ version: string }>();
  await put(`/blobs/${sha}?version=${version}`, "application/octet-stream", content);
  await put("", "application/json", body);
}

/** The context pins of a session, as `turn: name`. */
export async function pinsOf({ session_id }: Pick<Run, "session_id">): Promise<string[]> {
  const sql = "SELECT turn, name FROM context_pins WHERE session = ? ORDER BY turn, name";
  const { results } = await env.DB.prepare(sql)
    .bind(session_id)
    .all<{ turn: number; name: string }>();
  return results.map(({ turn, name }) => `${turn}: ${name}`);
}

/** The queued requests that have started, each with its turn, in order. */
export const startsOf = async (session: Pick<Run, "session_id">): Promise<[string, number][]> =>
  (await eventsOf(session)).flatMap((event): [string, number][] =>
    event.type === "turn.started" && event.queue_id ? [[event.queue_id, event.turn]] : [],
  );
