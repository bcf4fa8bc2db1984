import { DurableObject } from "cloudflare:workers";
import type { Team } from "../../src/config/team";
import { headRefusal, type OnBusy } from "../../src/coordination";
import type { Env } from "../../src/env";
import type { ContextChanges } from "../../src/protocol/api/contexts";
import {
  parseStreamUrl,
  STREAM_CODE_HEADER,
  type StreamCode,
} from "../../src/protocol/stream-request";
import { acceptedTurn } from "./admission/accepted-turn";
import { Admission } from "./admission/admission";
import { TeamKeys } from "./calls/team-keys";
import { stopSession } from "./compose";
import { Relays } from "./calls/relays";
import { contextPoint, diffPoint, readContents } from "./files/diff-points";
import { attachmentStore, createSession, loadSession, type Session } from "./load-session";
import { queueFrame } from "./queue/queue-announcer";
import { queuedStarts } from "./queue/queued-starts";
import { TurnRequests } from "./queue/turn-requests";
import {
  CALLER_KEY_HEADER,
  CALLER_TENANT_HEADER,
  type DiffPlace,
  type EventPage,
  type PageRequest,
  type RepeatTurn,
  type QueuedStart,
  type SessionObjectApi,
  type StartedTurn,
  type StartRefusal,
  type StartCompact,
  type StartTurn,
} from "./session-api";
import { createTables, tablesExist } from "./session-tables";
import { toRuntimeStream } from "./streams/runtime-stream";
import { Tickets } from "./streams/tickets";

const NOT_FOUND = { ok: false, code: "session_not_found" } as const;
const TURN_NOT_FOUND = { ok: false, code: "turn_not_found" } as const;
const FILE_NOT_FOUND = { ok: false, code: "file_not_found" } as const;
const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store, no-transform",
};

/**
 * The Durable Object of one session. Each RPC method checks that the caller's tenant owns the
 * session. Methods that start turns then call `Admission`; all others call the engine or read the
 * stored log.
 */
export class SessionObject extends DurableObject<Env> implements SessionObjectApi {
  readonly #relays: Relays;
  readonly #admission: Admission;
  readonly #requests: TurnRequests<Session>;
  #session: Session | null = null;
  #isErased = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const relays = new Relays(env.RELAYS);
    this.#relays = relays;
    this.#admission = new Admission({
      ...{ env, relays },
      sql: ctx.storage.sql,
      waitUntil: (work) => ctx.waitUntil(work),
      current: () => this.#session,
      isErased: () => this.#isErased,
      create: (meta) => {
        this.#session = createSession(home, meta);
        return this.#session;
      },
    });
    const starts = queuedStarts({ env, admission: this.#admission, current: () => this.#session });
    const home = { ctx, env, relays, queuedStarts: starts };
    this.#requests = new TurnRequests({
      startTurn: (session, turn) => this.#admission.startTurn(session, turn),
      attachmentsOf: ({ tenant, facts }) =>
        attachmentStore(env, { tenant, session: facts.sessionId }),
      isErased: () => this.#isErased,
    });
    if (!tablesExist(ctx.storage.sql)) return;
    createTables(ctx.storage.sql);
    this.#session = loadSession(home);
    this.#session.engine.boot();
  }

  async prepare(): Promise<void> {
    this.#relays.prepare();
  }

  create(
    tenant: string,
    sessionId: string,
    team: Team,
    turn: StartTurn,
  ): Promise<StartedTurn | StartRefusal> {
    return this.#admission.create(tenant, sessionId, team, turn);
  }

  async startTurn(
    tenant: string,
    requested: StartTurn | RepeatTurn,
    onBusy: OnBusy = "reject",
    caller: string | null = null,
  ): Promise<StartedTurn | QueuedStart | StartRefusal> {
    const session = this.#of(tenant);
    if (!session) return NOT_FOUND;
    const { log, facts } = session;
    const keys = new TeamKeys(this.env, { tenant, session: facts.sessionId });
    const turn = acceptedTurn(requested, { log, keys });
    if (turn === null) return { ok: false, code: "turn_not_found" };
    return this.#requests.request(session, { turn, onBusy, caller });
  }

  async readQueue(tenant: string) {
    const session = this.#of(tenant);
    return session ? ({ ok: true, queue: session.queueState() } as const) : NOT_FOUND;
  }

  async queued(tenant: string, id: string) {
    const session = this.#of(tenant);
    return session ? this.#requests.find(session, id) : NOT_FOUND;
  }

  async removeQueued(tenant: string, id: string) {
    const session = this.#of(tenant);
    return session ? this.#requests.remove(session, id) : NOT_FOUND;
  }

  async resumeQueue(tenant: string, caller: string | null = null) {
    const session = this.#of(tenant);
    if (!session) return NOT_FOUND;
    this.#requests.resume(session, caller);
    return { ok: true, queue: session.queueState() } as const;
  }

  async compact(tenant: string, turn: StartCompact): Promise<StartedTurn | StartRefusal> {
    const session = this.#of(tenant);
    return session ? this.#admission.compact(session, turn) : NOT_FOUND;
  }

  async turns(tenant: string, after: number, limit: number) {
    const page = this.#of(tenant)?.queries.turns(after, limit);
    return page ? ({ ok: true, ...page } as const) : NOT_FOUND;
  }

  moveHead(tenant: string, turn: number) {
    return this.#admission.whenIdle(() => this.#moveHead(tenant, turn));
  }

  #moveHead(tenant: string, turn: number) {
    const session = this.#of(tenant);
    if (!session) return NOT_FOUND;
    const { coordinator, log } = session;
    const refusal = headRefusal(coordinator.state, turn);
    if (refusal) return refusal;
    if (log.isCompact(turn)) return TURN_NOT_FOUND;
    coordinator.handle({ type: "head_requested", turn });
    return { ok: true, head: turn } as const;
  }

  async cancel(tenant: string) {
    const session = this.#of(tenant);
    if (!session) return NOT_FOUND;
    // Also requests that are about to start wait for the user then.
    session.queueStore.hold("cancelled");
    session.coordinator.handle({ type: "cancel_requested" });
    session.announceQueue();
    const turn = session.coordinator.state.turns;
    return {
      ok: true,
      turn,
      status: session.queries.turn(turn)?.status ?? "cancelled",
    } as const;
  }

  async erase(tenant: string): Promise<boolean> {
    const session = this.#of(tenant);
    if (!session) return false;
    // From now on, a start that still waits for its tenant must not begin a turn.
    this.#isErased = true;
    try {
      await stopSession(session, session.engine);
      this.ctx.waitUntil(session.tools.close());
      await this.ctx.storage.deleteAlarm();
      await this.ctx.storage.deleteAll();
    } catch (error) {
      this.#isErased = false;
      session.queue.restart();
      throw error;
    }
    this.#session = null;
    return true;
  }

  async status(tenant: string) {
    const session = this.#of(tenant);
    const queue = session && queueOf(session);
    const status = session?.queries.status({ now: session.now(), ...(queue && { queue }) });
    return status ? ({ ok: true, status } as const) : NOT_FOUND;
  }

  async turn(tenant: string, number: number) {
    const session = this.#of(tenant);
    if (!session) return NOT_FOUND;
    const turn = session.queries.turn(number);
    return turn ? ({ ok: true, turn } as const) : TURN_NOT_FOUND;
  }

  async answer(tenant: string, turn: number, label: string, attempt: number | null) {
    const session = this.#of(tenant);
    if (!session) return NOT_FOUND;
    if (!session.log.turn(turn)) return TURN_NOT_FOUND;
    const answer = session.queries.answer(turn, label, attempt);
    return answer
      ? ({ ok: true, answer } as const)
      : ({ ok: false, code: "answer_not_found" } as const);
  }

  async files(tenant: string, turn: number, label: string | null, attempt: number | null) {
    const session = this.#of(tenant);
    if (!session) return NOT_FOUND;
    if (!session.log.turn(turn)) return TURN_NOT_FOUND;
    const { queries, workspaces } = session;
    const answer = label === null ? null : queries.snapshotOf(turn, label, attempt);
    if (label !== null && !answer) return { ok: false, code: "answer_not_found" } as const;
    return { ok: true, files: workspaces.frozen(turn, answer) } as const;
  }

  async blob(tenant: string, hash: string) {
    const session = this.#of(tenant);
    return session ? session.workspaces.contents(hash) : FILE_NOT_FOUND;
  }

  async changes(tenant: string, turn: number) {
    const session = this.#of(tenant);
    if (!session) return NOT_FOUND;
    if (!session.log.turn(turn)) return TURN_NOT_FOUND;
    return { ok: true, changes: changesOf(session, turn) } as const;
  }

  async changedContents(tenant: string, turn: number, hash: string) {
    const session = this.#of(tenant);
    if (!session) return NOT_FOUND;
    if (!session.log.turn(turn)) return TURN_NOT_FOUND;
    const isNamed = changesOf(session, turn).some(({ changes }) =>
      changes.some((change) => change.hash === hash),
    );
    return isNamed ? session.workspaces.stateContents(turn, hash) : FILE_NOT_FOUND;
  }

  async diffPoint(tenant: string, place: DiffPlace) {
    const session = this.#of(tenant);
    if (!session) return NOT_FOUND;
    const point = diffPoint(session, place);
    return typeof point === "string"
      ? ({ ok: false, code: point } as const)
      : ({ ok: true, point } as const);
  }

  async contextPoint(tenant: string, place: { turn: number; context: string; isEnd: boolean }) {
    const session = this.#of(tenant);
    return session ? ({ ok: true, state: contextPoint(session, place) } as const) : NOT_FOUND;
  }

  async blobs(tenant: string, hashes: readonly string[]) {
    const session = this.#of(tenant);
    return session ? readContents(session, hashes) : hashes.map(() => FILE_NOT_FOUND);
  }

  async events(
    tenant: string,
    request: PageRequest,
  ): Promise<
    { ok: true; page: EventPage } | { ok: false; code: "session_not_found" | "turn_not_found" }
  > {
    const session = this.#of(tenant);
    if (!session) return NOT_FOUND;
    if (request.turn !== null && !session.log.turn(request.turn)) return TURN_NOT_FOUND;
    return { ok: true, page: session.queries.page(request) };
  }

  async issueTicket(tenant: string, keyId: string | null) {
    if (!this.#of(tenant)) return NOT_FOUND;
    return {
      ok: true,
      ...new Tickets(this.ctx.storage.sql).issue(tenant, keyId, Date.now()),
    } as const;
  }

  async redeemTicket(tenant: string, ticket: string) {
    return this.#of(tenant) && new Tickets(this.ctx.storage.sql).redeem(ticket, Date.now());
  }

  /** Opens an event stream. All other operations are RPC methods. */
  override async fetch(request: Request): Promise<Response> {
    const streamRequest = parseStreamUrl(request.url);
    const session = this.#of(request.headers.get(CALLER_TENANT_HEADER) ?? "");
    const code = session ? streamCode(session, streamRequest) : "session_not_found";
    const headers = { ...STREAM_HEADERS, [STREAM_CODE_HEADER]: code };
    const keyId = request.headers.get(CALLER_KEY_HEADER);
    if (code !== "open" || !session) return new Response(null, { headers });
    const notice = queueOf(session) && queueFrame(session.facts.sessionId, session);
    const segments = session.streams.open(streamRequest, keyId, request.signal, notice);
    if (keyId !== null) session.keyRevocation.start();
    return new Response(toRuntimeStream(segments), { headers });
  }

  override async alarm(): Promise<void> {
    await this.#session?.engine.wake();
  }

  /** The session; `null` if it does not belong to this tenant, or if it is erased. */
  #of(tenant: string): Session | null {
    return this.#session?.tenant === tenant && !this.#isErased ? this.#session : null;
  }
}

/** The queue of a session; `null` if it is empty. */
function queueOf({ queueState }: Session) {
  const queue = queueState();
  return queue.data.length > 0 ? queue : null;
}

function streamCode(
  { log, streams }: Session,
  { after, turn }: { after: number; turn: number | null },
): StreamCode {
  const place = turn === null ? null : log.turn(turn);
  if (turn !== null && !place) return "turn_not_found";
  if (place?.lastSeq != null && after >= place.lastSeq) return "over";
  if (after > log.head) return "event_id_ahead";
  return streams.isFull ? "too_many_readers" : "open";
}

/**
 * The states of contexts at the end of a completed turn, as differences from their versions. A turn
 * that did not complete has none, because its final text does not count.
 */
function changesOf({ queries, workspaces }: Session, turn: number): ContextChanges[] {
  if (queries.turn(turn)?.status !== "completed") return [];
  return workspaces.contextStates.end(turn).map(({ context, version, changes }) => ({
    context,
    base_version: version,
    changes: [...changes].map(([path, entry]) => ({ path, ...(entry ?? { hash: null, size: 0 }) })),
  }));
}
