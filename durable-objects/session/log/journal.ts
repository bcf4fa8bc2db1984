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

/** The writes of one decision. `rows`: the events as they are stored. */
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
  /** Ends of turns that are not yet reported to the tenant. */
  outbox: Outbox<SettledTurn>;
  /** Sends stored rows to readers. */
  publish: (rows: readonly LogRow[]) => void;
  /** Whether the session's streams have readers. */
  isWatched: () => boolean;
  /** Unix ms, by the session's clock. */
  now: () => number;
};

/**
 * The only writer of a session's log. Every entry is one synchronous transaction: the text streamed
 * so far, the events, and their private payloads. Readers are sent an entry once it is on disk.
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
   * Text that a model is streaming: collected until a row is worth writing, or until the next
   * entry. `point`: the resume point directly after it.
   */
  write(source: DeltaSource, text: string, point: ResumePoint | null): void {
    if (point) this.#options.points.note(source.call, point);
    this.#deltas.add(source, text);
  }

  /**
   * A resume point without text, stored at once: a model may think for minutes before it writes.
   */
  notePoint(call: string, point: ResumePoint): void {
    this.#options.points.note(call, point);
    this.#flush();
  }

  /** Text that was stored before a restart, of a call that can be resumed. */
  seed(item: DeltaItem): void {
    if (this.#options.points.has(item.call)) this.#deltas.seed(item);
  }

  /** Stores an entry at `at`, unix ms, and publishes it once it is on disk. */
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
   * Runs a transaction. If it fails, memory may differ from storage, so the object is discarded and
   * loaded again.
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
   * Publishes rows once they are on disk. If the sync fails, readers would never get the rows, so
   * the object is loaded again.
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
