import { type DeltaItem, type EventOf, isTerminal } from "../../../src/protocol/events";
import type { Sql } from "../object-storage";
import { type LogRow, type NewRow, toWire } from "../streams/frames";

/**
 * The part of the log to read: the rows with `after` < `seq` ≤ `upTo`. `deltas`: whether rows of
 * streamed text are included.
 */
type LogRange = { after: number; upTo: number; deltas: boolean };

/**
 * The rows of a turn, from `firstSeq` to `lastSeq`; `lastSeq` is `null` while the turn runs.
 * `parent`: the turn that it continues; `null` for the first.
 */
export type TurnPlace = {
  turn: number;
  parent: number | null;
  firstSeq: number;
  lastSeq: number | null;
};

/**
 * The log of a session, from which its state is computed. `seq` numbers events and deltas together,
 * from 1 without gaps. It is also the id in event streams (SSE). Writing methods must be called
 * inside one synchronous transaction.
 */
export class SessionLog {
  readonly #sql: Sql;
  #head: number;
  #latest: { turn: number; isRunning: boolean } | null;
  #endedAt: number | null;

  constructor(sql: Sql) {
    this.#sql = sql;
    const { head } = sql
      .exec<{ head: number }>(
        "SELECT max((SELECT coalesce(max(seq), 0) FROM events), (SELECT coalesce(max(seq), 0) FROM deltas)) AS head",
      )
      .one();
    this.#head = head;
    const [latest] = this.#places("ORDER BY turn DESC LIMIT 1");
    this.#latest = latest ? { turn: latest.turn, isRunning: latest.lastSeq === null } : null;
    this.#endedAt = this.#latest?.isRunning ? null : this.lastAt();
  }

  /** The highest `seq` in the log; 0 if the log is empty. */
  get head(): number {
    return this.#head;
  }

  /** Appends events. Returns the rows with their `seq`. */
  append(rows: readonly NewRow[]): LogRow[] {
    return rows.map((fields) => {
      const row = { seq: this.#next(), ...fields };
      this.#sql.exec(
        "INSERT INTO events (seq, turn, attempt, agent, type, at, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
        row.seq,
        row.turn,
        row.attempt,
        row.agent,
        row.type,
        row.at,
        row.body,
      );
      if (isTerminal(row.type)) this.#noteEnd(row);
      return row;
    });
  }

  /**
   * Records where a turn begins. To be called in the transaction of its `turn.started`. `end`: the
   * last row of the turn, if it was appended in the same transaction.
   */
  placeTurn(
    turn: number,
    parent: number | null,
    firstSeq: number,
    end: LogRow | null = null,
  ): void {
    this.#sql.exec(
      "INSERT INTO turns (turn, parent, first_seq) VALUES (?, ?, ?)",
      turn,
      parent,
      firstSeq,
    );
    this.#latest = { turn, isRunning: true };
    this.#endedAt = null;
    if (end) this.#noteEnd(end);
  }

  #noteEnd({ seq, turn, at }: LogRow): void {
    this.#sql.exec("UPDATE turns SET last_seq = ? WHERE turn = ?", seq, turn);
    this.#latest = { turn, isRunning: false };
    this.#endedAt = at;
  }

  /** Appends one row of streamed text. */
  appendDelta(turn: number, at: number, items: readonly DeltaItem[]): LogRow {
    const row = {
      seq: this.#next(),
      turn,
      attempt: null,
      agent: null,
      type: "stream.delta",
      at,
      body: JSON.stringify({ items }),
    };
    this.#sql.exec(
      "INSERT INTO deltas (seq, turn, at, body) VALUES (?, ?, ?, ?)",
      row.seq,
      turn,
      at,
      row.body,
    );
    return row;
  }

  /** The rows of a range, in order, read lazily. */
  read({ after, upTo, deltas }: LogRange): Iterable<LogRow> {
    const events =
      "SELECT seq, turn, attempt, agent, type, at, body FROM events WHERE seq > ?1 AND seq <= ?2";
    const eventsAndDeltas = `${events} UNION ALL SELECT seq, turn, NULL, NULL, 'stream.delta', at, body FROM deltas WHERE seq > ?1 AND seq <= ?2`;
    return this.#sql.exec<LogRow>(`${deltas ? eventsAndDeltas : events} ORDER BY seq`, after, upTo);
  }

  /**
   * The rows of streamed text after `after`, in order. Used to rebuild the text that agents had
   * streamed before a restart.
   */
  readDeltas(after: number): Iterable<LogRow> {
    return this.#sql.exec<LogRow>(
      "SELECT seq, turn, NULL AS attempt, NULL AS agent, 'stream.delta' AS type, at, body FROM deltas WHERE seq > ? ORDER BY seq",
      after,
    );
  }

  /** The events of one type in a turn, in order. */
  readType(place: TurnPlace, type: string): Iterable<LogRow> {
    return this.#sql.exec<LogRow>(
      "SELECT seq, turn, attempt, agent, type, at, body FROM events WHERE seq >= ? AND seq <= ? AND type = ? ORDER BY seq",
      place.firstSeq,
      place.lastSeq ?? this.#head,
      type,
    );
  }

  /** The row with this number; `null` if there is no such event. */
  row(seq: number): LogRow | null {
    const query = "SELECT seq, turn, attempt, agent, type, at, body FROM events WHERE seq = ?";
    return this.#sql.exec<LogRow>(query, seq).toArray()[0] ?? null;
  }

  /** The place of a turn; `null` if there is no such turn. */
  turn(number: number): TurnPlace | null {
    return this.#places("WHERE turn = ?", number)[0] ?? null;
  }

  /** The places of all turns, in order. */
  turns(): TurnPlace[] {
    return this.#places("ORDER BY turn");
  }

  /** The latest turn, and whether it runs; `null` before the first. */
  latest(): { turn: number; isRunning: boolean } | null {
    return this.#latest;
  }

  /** The head if it is not the latest turn, before an open turn; else `null`. */
  movedHead(): number | null {
    const [latest] = this.#places("ORDER BY turn DESC LIMIT 1");
    if (!latest || latest.lastSeq === null) return null;
    const query =
      "SELECT body ->> 'head' AS head FROM events WHERE seq > ? AND type = 'head.moved' ORDER BY seq DESC LIMIT 1";
    const [moved] = this.#sql.exec<{ head: number }>(query, latest.lastSeq).toArray();
    return moved?.head ?? (this.isCompact(latest.turn) ? latest.parent : null);
  }

  /**
   * Records the event with a summary of the turn `through` and of all turns that this one
   * continues. To be called in the transaction of the event. The first summary stays.
   */
  placeSummary(through: number, seq: number): void {
    this.#sql.exec("INSERT OR IGNORE INTO summaries (through, seq) VALUES (?, ?)", through, seq);
  }

  /** The row of the summary whose last turn is `through`; `null` if there is none. */
  summary(through: number): LogRow | null {
    const query =
      "SELECT seq, turn, attempt, agent, type, at, body FROM events WHERE seq = (SELECT seq FROM summaries WHERE through = ?)";
    return this.#sql.exec<LogRow>(query, through).toArray()[0] ?? null;
  }

  /** Whether a turn only summarises the turns before it. It has no place in the conversation. */
  isCompact(turn: number): boolean {
    const query =
      "SELECT body ->> 'kind' AS kind FROM events WHERE seq = (SELECT first_seq FROM turns WHERE turn = ?)";
    return this.#sql.exec<{ kind: string | null }>(query, turn).toArray()[0]?.kind === "compact";
  }

  /** When the latest turn ended, unix ms; `null` while it runs, 0 before the first. */
  get endedAt(): number | null {
    return this.#endedAt;
  }

  /** See `TurnEnds`. */
  completedWith(turn: number): number | null {
    const query =
      "SELECT attempt FROM events WHERE seq = (SELECT last_seq FROM turns WHERE turn = ?) AND type = 'turn.completed'";
    if (this.isCompact(turn)) return null;
    return this.#sql.exec<{ attempt: number | null }>(query, turn).toArray()[0]?.attempt ?? null;
  }

  /** Time of the latest event, unix ms; 0 without events. */
  lastAt(): number {
    const query = "SELECT coalesce((SELECT at FROM events ORDER BY seq DESC LIMIT 1), 0) AS at";
    return this.#sql.exec<{ at: number }>(query).one().at;
  }

  /**
   * Stores a turn's summary. To be called in the transaction of the turn's terminal event. Later
   * reads need the summary only and do not fold the turn's events.
   */
  saveSummary(turn: number, summary: string): void {
    this.#sql.exec("UPDATE turns SET summary = ? WHERE turn = ?", summary, turn);
  }

  /** The stored summaries of settled turns, in order. */
  summaries(): string[] {
    const rows = this.#sql.exec<{ summary: string }>(
      "SELECT summary FROM turns WHERE summary IS NOT NULL ORDER BY turn",
    );
    return rows.toArray().map(({ summary }) => summary);
  }

  #places(where: string, ...values: number[]): TurnPlace[] {
    const query = `SELECT turn, parent, first_seq AS firstSeq, last_seq AS lastSeq FROM turns ${where}`;
    return this.#sql.exec<TurnPlace>(query, ...values).toArray();
  }

  #next(): number {
    this.#head += 1;
    return this.#head;
  }
}

/** The `turn.started` of a turn; `null` if there is no such turn. */
export function startOfTurn(log: SessionLog, turn: number): EventOf<"turn.started"> | null {
  const place = log.turn(turn);
  const row = place && log.row(place.firstSeq);
  const event = row && toWire(row, "");
  return event?.type === "turn.started" ? event : null;
}
