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

/** What one decision puts on disk; `rows` are the events as they will be stored. */
export type Entry = {
  events: readonly SessionEvent[];
  rows: readonly NewRow[];
  records: readonly RoundRecord[];
  /** Writes what else belongs into the same transaction: the agents' files. */
  writeFiles?: () => void;
};

type Options = {
  platform: Platform;
  log: SessionLog;
  sessionId: string;
  calls: CallStore;
  points: ResumePoints;
  queries: SessionQueries;
  /** Where a turn's end is kept until the tenant has been told. */
  outbox: Outbox<SettledTurn>;
  /** Rows that are on disk now. */
  publish: (rows: readonly LogRow[]) => void;
  /** Whether anybody reads the session's streams. */
  isWatched: () => boolean;
  /** The session's time, unix ms. */
  now: () => number;
};

/**
 * The only writer of a session's tables. Every entry is one synchronous transaction: the text that
 * models have streamed so far, the events, and the private payloads that belong to them. Readers
 * are sent an entry once it is on disk.
 */
export class Journal {
  readonly #options: Options;
  readonly #deltas: DeltaBuffer;

  constructor(options: Options) {
    this.#options = options;
    this.#deltas = new DeltaBuffer({
      onDue: () => this.#flush(),
      isWatched: options.isWatched,
    });
  }

  /**
   * A piece of what a model is writing: kept until it is worth a row, or until the next entry.
   * `point` is right behind it.
   */
  write(source: DeltaSource, text: string, point: ResumePoint | null): void {
    if (point) this.#options.points.note(source.call, point);
    this.#deltas.add(source, text);
  }

  /** A place without text, stored at once: a model may think for minutes before it writes. */
  notePoint(call: string, point: ResumePoint): void {
    this.#options.points.note(call, point);
    this.#flush();
  }

  /** A piece that was stored before a restart, of a call that goes on. */
  seed(item: DeltaItem): void {
    if (this.#options.points.has(item.call)) this.#deltas.seed(item);
  }

  commit(entry: Entry, at: number): void {
    const { log, sessionId, calls, points, queries, outbox } = this.#options;
    const ended = entry.events.find(isTurnEnd);
    const written = this.#transaction(() => {
      const deltas = this.#appendDeltas(at);
      const facts = log.append(entry.rows);
      for (const [nth, event] of entry.events.entries()) {
        if (event.type === "turn.started")
          log.placeTurn(event.turn, event.parent_turn, facts[nth]?.seq ?? 0);
      }
      calls.append(entry.events.at(-1)?.turn ?? 0, entry.records);
      entry.writeFiles?.();
      queries.note(facts, ended?.turn ?? null);
      if (ended)
        outbox.add({
          session: sessionId,
          turn: ended.turn,
          costUsd: knownUsd(ended),
          at: ended.at,
        });
      for (const event of entry.events) if (isCallEnd(event)) points.forget(event.call);
      return [...deltas, ...facts];
    });
    for (const event of entry.events) if (isCallEnd(event)) this.#deltas.forget(event.call);
    this.#publish(written);
  }

  /**
   * All or nothing. If the disk refuses, memory cannot be trusted any more: the object starts again
   * from what is stored.
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
   * If the rows do not reach the disk, readers would wait for them for ever: then too the object
   * starts again.
   */
  #publish(rows: LogRow[]): void {
    const { platform, publish } = this.#options;
    const isStored = platform.storage.sync().then(
      () => publish(rows),
      () => platform.abort(BEGINS_AGAIN),
    );
    platform.waitUntil(isStored);
  }
}

const isTurnEnd = (
  event: SessionEvent,
): event is EventOf<"turn.completed" | "turn.failed" | "turn.cancelled"> => isTerminal(event.type);

const isCallEnd = (event: SessionEvent): event is EventOf<"call.completed" | "call.failed"> =>
  event.type === "call.completed" || event.type === "call.failed";
