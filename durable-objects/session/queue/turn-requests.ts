import { findAttachments } from "../../../src/agents/attached";
import { STORE } from "../../shared/object-limits";
import {
  byteLength,
  MOST_QUEUED,
  type OnBusy,
  placeRequest,
  type Placement,
  runningTurn,
} from "../../../src/coordination";
import type { AttachmentStore } from "../admission/attachments";
import { isParent } from "../admission/parents";
import type { Engine } from "../../../src/engine/engine";
import type { SessionParts } from "../compose";
import type {
  QueuedPlace,
  QueuedStart,
  QueueRefusal,
  StartedTurn,
  StartRefusal,
  StartTurn,
} from "../session-api";
import type { QueueStore } from "./queue-store";

/** A session with its engine. */
type RunningSession = SessionParts & { engine: Engine };

type Options<Session> = {
  /** See `Admission`. */
  startTurn: (session: Session, turn: StartTurn) => Promise<StartedTurn | StartRefusal>;
  attachmentsOf: (session: Session) => Pick<AttachmentStore, "putQueued" | "removeQueued">;
  isErased: () => boolean;
};

/** A request for a turn. `caller`: the id of the caller's key; `null` without keys. */
type TurnRequest = { turn: StartTurn; onBusy: OnBusy; caller: string | null };

const NOT_FOUND = { ok: false, code: "queued_not_found" } as const;

/** Starts turns that users request, or puts the requests into the queue of a busy session. */
export class TurnRequests<Session extends RunningSession> {
  readonly #options: Options<Session>;

  constructor(options: Options<Session>) {
    this.#options = options;
  }

  /** Starts or queues a turn. Idempotent per `startId`. */
  async request(
    session: Session,
    request: TurnRequest,
  ): Promise<StartedTurn | QueuedStart | StartRefusal> {
    const { turn, onBusy } = request;
    const { coordinator, queueStore } = session;
    const id = queueIdOf(turn);
    for (;;) {
      const known = knownStart(queueStore, id, turn);
      if (known) return known;
      const isRunning = runningTurn(coordinator.state) !== null;
      const placement = placeRequest(queueStore.queue(), onBusy, isRunning);
      if (placement.type === "queue") return this.#enqueue(session, request, id);
      if (placement.type === "refuse") return toRefusal(placement, coordinator.state.turns);
      const started = await this.#options.startTurn(session, turn);
      const isBusy = !started.ok && started.code === "turn_running";
      if (!isBusy || onBusy === "reject") return started;
      // Another turn has started in the meantime: now the session is busy.
    }
  }

  /** A request that is in the queue, or has left it by its start. */
  find({ queueStore }: Session, id: string): QueuedPlace | QueueRefusal {
    const position = positionOf(queueStore, id);
    const turn = position === null ? queueStore.startedAs(id) : null;
    return position === null && turn === null ? NOT_FOUND : { ok: true, position, turn };
  }

  /** Removes a request with its attachments. */
  async remove(session: Session, id: string): Promise<{ ok: true } | QueueRefusal> {
    const { queueStore, engine } = session;
    const request = queueStore.request(id);
    if (!request) {
      const turn = queueStore.startedAs(id);
      return turn === null ? NOT_FOUND : { ok: false, code: "queued_turn_started", turn };
    }
    queueStore.remove(id);
    session.announceQueue();
    engine.startBackground(); // The request after it may start.
    await this.#options.attachmentsOf(session).removeQueued(request.turn.attachments ?? []);
    return { ok: true };
  }

  /** Resumes the queue. Its requests start with the authority of this key. */
  resume(session: Session, caller: string | null): void {
    session.queueStore.resume(caller);
    session.announceQueue();
    session.engine.startBackground();
  }

  async #enqueue(
    session: Session,
    request: TurnRequest,
    id: string,
  ): Promise<QueuedStart | StartedTurn | StartRefusal> {
    const { attachmentsOf, isErased } = this.#options;
    const { queries, queueStore } = session;
    const { turn } = request;
    const wanted = turn.attachments ?? [];
    if (!isParent(session, turn.parentTurn)) return { ok: false, code: "turn_not_found" };
    // Attachments are stored apart.
    const bytes = byteLength(JSON.stringify({ ...turn, attachments: [] }));
    const most = STORE.queuedRowBytes;
    if (bytes > most) return { ok: false, code: "request_too_long_to_wait", bytes, most };
    const found = findAttachments(wanted, () => [
      ...queries.attachments(),
      ...queueStore.attachments(),
    ]);
    if (!found.ok) return found;
    const store = attachmentsOf(session);
    const attachments = wanted.length === 0 ? wanted : await store.putQueued(id, wanted);
    const known = isErased() ? null : knownStart(queueStore, id, turn);
    if (known) return known;
    const isFull = !isErased() && queueStore.queue().requests.length >= MOST_QUEUED;
    if (isErased() || isFull) {
      await store.removeQueued(attachments);
      return isFull
        ? { ok: false, code: "queue_full", most: MOST_QUEUED }
        : { ok: false, code: "session_not_found" };
    }
    return insert(session, { ...request, turn: { ...turn, attachments } }, id);
  }
}

/** Why a busy session refuses a request that does not wait; `null` if it is not busy. */
export function busyRefusal({
  coordinator: { state },
  queueStore,
}: Pick<SessionParts, "coordinator" | "queueStore">): StartRefusal | null {
  const placement = placeRequest(queueStore.queue(), "reject", runningTurn(state) !== null);
  return placement.type === "refuse" ? toRefusal(placement, state.turns) : null;
}

/** `latest`: number of the latest turn. */
function toRefusal(
  placement: Extract<Placement, { type: "refuse" }>,
  latest: number,
): StartRefusal {
  switch (placement.code) {
    case "turn_running":
      return { ok: false, code: "turn_running", turn: latest };
    case "queue_full":
      return { ok: false, code: "queue_full", most: MOST_QUEUED };
    case "queue_not_empty":
      return { ok: false, code: "queue_not_empty", queued: placement.queued };
  }
}

/** Adds a request to the queue. An interrupt cancels the running turn. */
function insert(
  session: RunningSession,
  { turn, onBusy, caller }: TurnRequest,
  id: string,
): QueuedStart {
  const { coordinator, queueStore } = session;
  const { startId: _, attachments = [], ...stored } = turn;
  const interrupts = onBusy === "interrupt";
  // No `await` until the cancellation is stored, so the platform stores all writes or none.
  queueStore.add({
    ...{ id, interrupts, keyId: caller, at: session.now() },
    turn: { ...stored, ...(attachments.length > 0 && { attachments }) },
  });
  const position = positionOf(queueStore, id) ?? 1;
  if (interrupts) coordinator.handle({ type: "cancel_requested" });
  session.announceQueue();
  session.engine.startBackground();
  return { ok: true, queued: { id, position } };
}

/**
 * The id of a request in the queue. A repeated request gets the same id, and so does not run twice.
 */
const queueIdOf = ({ startId }: StartTurn): string =>
  `queued_${(startId ?? crypto.randomUUID()).replaceAll("-", "").toLowerCase()}`;

/** What an earlier request with the same id has caused; `null` if there was none. */
function knownStart(
  store: QueueStore,
  id: string,
  { startId }: StartTurn,
): StartedTurn | QueuedStart | null {
  if (startId === undefined) return null;
  const position = positionOf(store, id);
  if (position !== null) return { ok: true, queued: { id, position } };
  const turn = store.startedAs(startId) ?? store.startedAs(id);
  return turn === null ? null : { ok: true, turn };
}

function positionOf(store: QueueStore, id: string): number | null {
  const index = store.queue().requests.findIndex((request) => request.id === id);
  return index === -1 ? null : index + 1;
}
