import {
  type Queue,
  queueAfter,
  type QueueHold,
  withHold,
  withoutHold,
  withoutRequest,
  withRequest,
} from "../../../src/coordination";
import type { Attachment } from "../../../src/protocol/attachments";
import type { SessionEvent } from "../../../src/protocol/events";
import type { TeamKeys } from "../calls/team-keys";
import type { Sql } from "../object-storage";
import type { StartTurn } from "../session-api";

/**
 * Why a request that is the first of a queue has not started yet. `at`: unix ms of the next try.
 */
export type QueueWait = {
  code: "quota_exceeded" | "spend_exceeded" | "service_error";
  at: number;
};

/**
 * A stored request. `turn`: the whole validated request. `keyId`: the key that it was sent with, or
 * with which the queue was resumed; `null` without keys. `at`: unix ms of the request. `tries`:
 * refused starts.
 */
export type StoredRequest = {
  id: string;
  turn: StartTurn;
  keyId: string | null;
  at: number;
  interrupts: boolean;
  tries: number;
  /** `null` if no limit of the tenant has refused it. */
  wait: QueueWait | null;
};

type Row = {
  id: string;
  interrupts: number;
  key_id: string | null;
  at: number;
  tries: number;
  not_before: number;
  waits_for: QueueWait["code"] | null;
  body: string;
};

const HOLD_KEY = "queue_hold";

/**
 * The table of a session's queue. All changes are decided by the rules of the queue
 * (`src/coordination/queue`); this class stores the result.
 */
export class QueueStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The queue, as its rules need it. */
  queue(): Queue {
    const query = "SELECT id, interrupts, not_before FROM queue ORDER BY place";
    const requests = this.#sql
      .exec<Pick<Row, "id" | "interrupts" | "not_before">>(query)
      .toArray()
      .map(({ id, interrupts, not_before }) => ({
        ...{ id, interrupts: interrupts === 1, notBefore: not_before },
      }));
    return { requests, hold: requests.length === 0 ? null : this.#hold() };
  }

  /** All requests in order. */
  requests(): StoredRequest[] {
    return this.#rows("ORDER BY place").map(toRequest);
  }

  /** The request with this id; `null` if it is not in the queue. */
  request(id: string): StoredRequest | null {
    const [row] = this.#rows("WHERE id = ?", id);
    return row ? toRequest(row) : null;
  }

  /** The attachments of all requests that are stored with them. */
  attachments(): Attachment[] {
    return this.requests().flatMap(({ turn: { attachments = [] } }) =>
      attachments.flatMap((wanted) => ("attachment" in wanted ? [wanted.attachment] : [])),
    );
  }

  /** The turn that a request of the queue has started; `null` if there is none. */
  startedAs(id: string): number | null {
    const query = "SELECT turn FROM starts WHERE id = ?";
    return this.#sql.exec<{ turn: number }>(query, id).toArray()[0]?.turn ?? null;
  }

  /** Adds a request. */
  add({ id, turn, keyId, at, interrupts }: Omit<StoredRequest, "tries" | "wait">): void {
    const next = withRequest(this.queue(), id, interrupts);
    this.#sql.exec(
      "INSERT INTO queue (id, place, interrupts, key_id, at, tries, not_before, waits_for, body) VALUES (?, 0, 0, ?, ?, 0, 0, NULL, ?)",
      ...[id, keyId, at, JSON.stringify(turn)],
    );
    this.#write(next);
  }

  /** Removes a request. */
  remove(id: string): void {
    this.#apply((queue) => withoutRequest(queue, id));
  }

  /** Holds the queue. */
  hold(hold: QueueHold): void {
    this.#apply((queue) => withHold(queue, hold));
  }

  /** Resumes the queue. Its requests start with the authority of this key from now on. */
  resume(keyId: string | null): void {
    this.#apply(withoutHold);
    this.#sql.exec("UPDATE queue SET key_id = ?, tries = 0, waits_for = NULL", keyId);
  }

  /** Schedules the next try of a request. */
  retry(id: string, { code, at }: QueueWait): void {
    const update = "UPDATE queue SET tries = tries + 1, not_before = ?, waits_for = ? WHERE id = ?";
    this.#sql.exec(update, at, code, id);
  }

  /**
   * Records the events of an entry of the log. To be called in the transaction of the entry, so
   * that a request leaves the queue exactly when its turn is stored. Returns whether the queue has
   * changed.
   */
  note(events: readonly SessionEvent[]): boolean {
    const before = this.queue();
    if (before.requests.length === 0) return false;
    for (const event of events)
      if (event.type === "turn.started" && event.queue_id !== undefined)
        this.#sql.exec(
          "INSERT OR IGNORE INTO starts (id, turn) VALUES (?, ?)",
          event.queue_id,
          event.turn,
        );
    return this.#apply((queue) => events.reduce(queueAfter, queue), before);
  }

  /** Stores what a rule makes of the queue. Returns whether anything has changed. */
  #apply(rule: (queue: Queue) => Queue, before = this.queue()): boolean {
    const next = rule(before);
    if (JSON.stringify(next) === JSON.stringify(before)) return false;
    const kept = new Set(next.requests.map(({ id }) => id));
    for (const { id } of before.requests)
      if (!kept.has(id)) this.#sql.exec("DELETE FROM queue WHERE id = ?", id);
    this.#write(next);
    return true;
  }

  /** Stores the order of the requests and the hold. */
  #write({ requests, hold }: Queue): void {
    for (const [place, { id, interrupts, notBefore }] of requests.entries())
      this.#sql.exec(
        "UPDATE queue SET place = ?, interrupts = ?, not_before = ? WHERE id = ?",
        ...[place, interrupts ? 1 : 0, notBefore, id],
      );
    if (hold === null) this.#sql.exec("DELETE FROM meta WHERE key = ?", HOLD_KEY);
    else this.#sql.exec("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", HOLD_KEY, hold);
  }

  #hold(): QueueHold | null {
    const query = "SELECT value FROM meta WHERE key = ?";
    return this.#sql.exec<{ value: QueueHold }>(query, HOLD_KEY).toArray()[0]?.value ?? null;
  }

  #rows(where: string, ...values: string[]): Row[] {
    const query = `SELECT id, interrupts, key_id, at, tries, not_before, waits_for, body FROM queue ${where}`;
    return this.#sql.exec<Row>(query, ...values).toArray();
  }
}

/** Seals the keys in queued requests again, as `loadTurnTeams` does with those of turns. */
export function renewQueuedTeams(sql: Sql, keys: Pick<TeamKeys, "renew">): void {
  for (const { id } of sql.exec<{ id: string }>("SELECT id FROM queue").toArray()) {
    const { body } = sql.exec<{ body: string }>("SELECT body FROM queue WHERE id = ?", id).one();
    const turn: StartTurn = JSON.parse(body);
    const team = turn.team && keys.renew(turn.team);
    if (team)
      sql.exec("UPDATE queue SET body = ? WHERE id = ?", JSON.stringify({ ...turn, team }), id);
  }
}

const toRequest = (row: Row): StoredRequest => ({
  id: row.id,
  turn: JSON.parse(row.body),
  keyId: row.key_id,
  at: row.at,
  interrupts: row.interrupts === 1,
  tries: row.tries,
  wait: row.waits_for && { code: row.waits_for, at: row.not_before },
});
