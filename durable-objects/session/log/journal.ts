import type { RoundRecord } from "../../../src/agents/records";
import { knownUsd } from "../../../src/protocol/cost";
import type { ResumePoint } from "../../../src/providers/provider";
import {
  type DeltaItem,
  type EventOf,
  isTerminal,
  type SessionEvent,
} from "../../../src/protocol/events";
import { BEGINS_AGAIN } from "../../../src/providers/platform-words";
import { CallStore } from "../calls/call-store";
import { DeltaBuffer, type DeltaSource } from "./delta-buffer";
import { EventStreams } from "../streams/event-streams";
import type { LogRow, NewRow } from "../streams/frames";
import { Outbox } from "./outbox";
import { ResumePoints } from "./resume-points";
import type { SessionLog } from "./session-log";
import type { SettledTurn } from "../../tenant/tenant-api";
import { SessionQueries } from "../session-queries";

/** What one decision puts on disk; `rows` are the events as they will be stored. */
export type Entry = {
  events: readonly SessionEvent[];
  rows: readonly NewRow[];
  records: readonly RoundRecord[];
  /** Writes what else belongs into the same transaction: the agents' files. */
  writeFiles?: () => void;
};

type Options = {
  ctx: DurableObjectState;
  log: SessionLog;
  sessionId: string;
  maxReaders: number;
  /** When the latest turn ended, unix ms; null while it runs. */
  endedAt: () => number | null;
  /** The session's time, unix ms. */
  now: () => number;
  /** The turn whose models write; null if none runs. */
  openTurn: () => number | null;
};

/**
 * The only writer of a session's tables. Every entry is one synchronous transaction: what models have written so far, the
 * facts, and the private payloads that belong to them. Readers hear of it when it cannot be lost any more.
 */
export class Journal {
  readonly calls: CallStore;
  readonly points: ResumePoints;
  readonly streams: EventStreams;
  readonly queries: SessionQueries;
  readonly outbox: Outbox<SettledTurn>;
  readonly #options: Options;
  readonly #deltas: DeltaBuffer;

  constructor(options: Options) {
    const { ctx, log, sessionId, maxReaders, endedAt, now } = options;
    this.#options = options;
    this.calls = new CallStore(ctx.storage.sql);
    this.points = new ResumePoints(ctx.storage.sql);
    this.outbox = new Outbox(ctx.storage.sql, "outbox");
    this.queries = new SessionQueries(log, sessionId);
    this.streams = new EventStreams({ log, sessionId, maxReaders, endedAt, now });
    this.#deltas = new DeltaBuffer({
      onDue: () => this.#flush(),
      isWatched: () => this.streams.watched,
    });
  }

  /** A piece of what a model is writing: kept until it is worth a row, or until the next entry. `point` is right behind it. */
  write(source: DeltaSource, text: string, point: ResumePoint | null): void {
    if (point) this.points.note(source.call, point);
    this.#deltas.add(source, text);
  }

  /** A place without text, stored at once: a model may think for minutes before it writes. */
  notePoint(call: string, point: ResumePoint): void {
    this.points.note(call, point);
    this.#flush();
  }

  /** A piece that was stored before a restart, of a call that goes on. */
  seed(item: DeltaItem): void {
    if (this.points.has(item.call)) this.#deltas.seed(item);
  }

  commit(entry: Entry, at: number): void {
    const { log, sessionId } = this.#options;
    const ended = entry.events.find(isTurnEnd);
    const written = this.#transaction(() => {
      const deltas = this.#appendDeltas(at);
      const facts = log.append(entry.rows);
      for (const [nth, event] of entry.events.entries()) {
        if (event.type === "turn.started")
          log.placeTurn(event.turn, event.parent_turn, facts[nth]?.seq ?? 0);
      }
      this.calls.append(entry.events.at(-1)?.turn ?? 0, entry.records);
      entry.writeFiles?.();
      this.queries.note(facts, ended?.turn ?? null);
      if (ended)
        this.outbox.add({
          session: sessionId,
          turn: ended.turn,
          costUsd: knownUsd(ended),
          at: ended.at,
        });
      for (const event of entry.events) if (isCallEnd(event)) this.points.forget(event.call);
      return [...deltas, ...facts];
    });
    for (const event of entry.events) if (isCallEnd(event)) this.#deltas.forget(event.call);
    this.#publish(written);
  }

  /** All or nothing. If the disk refuses, memory is not to be trusted any more: the object begins again from what is stored. */
  #transaction(work: () => LogRow[]): LogRow[] {
    const { ctx } = this.#options;
    try {
      return ctx.storage.transactionSync(work);
    } catch (error) {
      ctx.abort(BEGINS_AGAIN);
      throw error;
    }
  }

  #appendDeltas(at: number): LogRow[] {
    const { log, openTurn } = this.#options;
    const turn = openTurn();
    const rows = this.#deltas.take(at);
    this.points.store();
    return turn === null ? [] : rows.map((items) => log.appendDelta(turn, at, items));
  }

  #flush(): void {
    const rows = this.#transaction(() => this.#appendDeltas(this.#options.now()));
    if (rows.length > 0) this.#publish(rows);
  }

  /** Readers of rows that nobody knows to be on disk would wait for them for ever: then too the object begins again. */
  #publish(rows: LogRow[]): void {
    const { ctx } = this.#options;
    const isStored = ctx.storage.sync().then(
      () => this.streams.publish(rows),
      () => ctx.abort(BEGINS_AGAIN),
    );
    ctx.waitUntil(isStored);
  }
}

const isTurnEnd = (
  event: SessionEvent,
): event is EventOf<"turn.completed" | "turn.failed" | "turn.cancelled"> => isTerminal(event.type);

const isCallEnd = (event: SessionEvent): event is EventOf<"call.completed" | "call.failed"> =>
  event.type === "call.completed" || event.type === "call.failed";
