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
import type { CallStore } from "../calls/call-store";
import type { DeltaSource } from "../../../src/engine/ports";
import type { Platform } from "../object-storage";
import { DeltaBuffer } from "./delta-buffer";
import type { LogRow, NewRow } from "../streams/frames";
import type { Outbox } from "./outbox";
import type { ResumePoints } from "./resume-points";
import type { SessionLog } from "./session-log";
import type { SettledTurn } from "../../tenant/tenant-api";
import type { SessionQueries } from "../session-queries";

/** The writes of one decision. `rows`: the events in the form in which they are stored. */
export type Entry = {
  events: readonly SessionEvent[];
  rows: readonly NewRow[];
  records: readonly RoundRecord[];
  /** Writes the agents' files in the same transaction. */
  writeFiles?: () => void;
};

type Options = {
  platform: Platform;
  log: SessionLog;
  sessionId: string;
  calls: CallStore;
  points: ResumePoints;
  queries: SessionQueries;
  /** Turns that have ended and are not yet settled with the tenant. */
  outbox: Outbox<SettledTurn>;
  /** Updates the queue. Called in the transaction of the events. Omitted if there is no queue. */
  noteQueue?: (events: readonly SessionEvent[]) => void;
  /** Sends stored rows to readers. */
  publish: (rows: readonly LogRow[]) => void;
  /** Whether the session's streams have readers. */
  isWatched: () => boolean;
  /** Unix ms, by the session's clock. */
  now: () => number;
};

/**
 * The only writer of a session's log. Every entry is one synchronous transaction: the text streamed
 * so far, the events, and their private payloads. An entry is sent to readers once it is on disk.
 */
export class Journal {
  readonly #options: Options;
  readonly #deltas: DeltaBuffer;
  /** Stored rows that are not yet known to be on disk. */
  #unpublished: LogRow[] = [];
  #publishing: Promise<void> | null = null;

  constructor(options: Options) {
    this.#options = options;
    this.#deltas = new DeltaBuffer({
      onDue: () => this.#flush(),
      isWatched: options.isWatched,
    });
  }

  /**
   * Adds text that a model is streaming. It is collected until a row is due, or until the next
   * entry. `point`: the resume point directly after the text.
   */
  write(source: DeltaSource, text: string, point: ResumePoint | null): void {
    if (point) this.#options.points.note(source.call, point);
    this.#deltas.add(source, text);
  }

  /**
   * Stores a resume point before which no text was streamed. It is stored at once, because a model
   * may think for minutes before it streams text.
   */
  notePoint(call: string, point: ResumePoint): void {
    this.#options.points.note(call, point);
    this.#flush();
  }

  /** Registers text that was stored before a restart, if its call can be resumed. */
  seed(item: DeltaItem): void {
    if (this.#options.points.has(item.call)) this.#deltas.seed(item);
  }

  /** Stores an entry, and publishes it once it is on disk. `at`: the time of the entry, unix ms. */
  commit(entry: Entry, at: number): void {
    const { log, sessionId, calls, points, queries, outbox } = this.#options;
    const turnEnd = entry.events.find(isTurnEnd);
    const writtenRows = this.#transaction(() => {
      const deltas = this.#appendDeltas(at);
      const eventRows = log.append(entry.rows);
      for (const [nth, event] of entry.events.entries()) {
        const seq = eventRows[nth]?.seq ?? 0;
        if (event.type === "turn.started") {
          const end = eventRows.find(({ turn, type }) => turn === event.turn && isTerminal(type));
          log.placeTurn(event.turn, event.parent_turn, seq, end);
        }
        if (event.type === "history.summarised") log.placeSummary(event.turns.at(-1) ?? 0, seq);
      }
      calls.append(entry.events.at(-1)?.turn ?? 0, entry.records);
      entry.writeFiles?.();
      queries.note(eventRows, turnEnd?.turn ?? null);
      if (turnEnd)
        outbox.add({
          session: sessionId,
          turn: turnEnd.turn,
          costUsd: knownUsd(turnEnd),
          at: turnEnd.at,
        });
      for (const event of entry.events) if (isCallEnd(event)) points.forget(event.call);
      if (entry.events.some(changesQueue)) this.#options.noteQueue?.(entry.events);
      return [...deltas, ...eventRows];
    });
    for (const event of entry.events) if (isCallEnd(event)) this.#deltas.forget(event.call);
    this.#publish(writtenRows);
  }

  /**
   * Runs a transaction. If it fails, the state in memory may differ from the storage, so the object
   * is discarded and loaded again.
   */
  #transaction(work: () => LogRow[]): LogRow[] {
    const { platform } = this.#options;
    try {
      return platform.storage.transactionSync(work);
    } catch (error) {
      platform.abort(BEGINS_AGAIN);
      throw error;
    }
  }

  #appendDeltas(at: number): LogRow[] {
    const { log, points } = this.#options;
    const latest = log.latest();
    const rows = this.#deltas.take(at);
    points.store();
    return latest?.isRunning ? rows.map((items) => log.appendDelta(latest.turn, at, items)) : [];
  }

  #flush(): void {
    const rows = this.#transaction(() => this.#appendDeltas(this.#options.now()));
    if (rows.length > 0) this.#publish(rows);
  }

  /**
   * Publishes rows once they are on disk. Rows that are stored while the disk is awaited are
   * published together after the next wait.
   */
  #publish(rows: LogRow[]): void {
    this.#unpublished.push(...rows);
    if (this.#publishing !== null) return;
    this.#publishing = this.#publishAll();
    this.#options.platform.waitUntil(this.#publishing);
  }

  /** Waits until all stored rows are published. */
  async published(): Promise<void> {
    await this.#publishing;
  }

  /**
   * Publishes until no row is left. If a sync fails, readers would never get the rows, so the
   * object is loaded again.
   */
  async #publishAll(): Promise<void> {
    const { platform, publish } = this.#options;
    try {
      while (this.#unpublished.length > 0) {
        const rows = this.#unpublished;
        this.#unpublished = [];
        await platform.storage.sync();
        publish(rows);
      }
    } catch {
      platform.abort(BEGINS_AGAIN);
    } finally {
      this.#publishing = null;
    }
  }
}

const isTurnEnd = (
  event: SessionEvent,
): event is EventOf<"turn.completed" | "turn.failed" | "turn.cancelled"> => isTerminal(event.type);

/** Whether the event may change the queue: see `queueAfter`. */
const changesQueue = ({ type }: SessionEvent): boolean =>
  isTerminal(type) || type === "turn.started";

const isCallEnd = (event: SessionEvent): event is EventOf<"call.completed" | "call.failed"> =>
  event.type === "call.completed" || event.type === "call.failed";
