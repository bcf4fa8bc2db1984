import type { StreamRequest } from "../../../src/protocol/stream-request";
import { type FrameBatch, FrameCache, type LogRow, toBatch, toFrame } from "./frames";
import { RowBatcher } from "./row-batcher";
import { STREAM } from "../../shared/object-limits";
import { isTerminal } from "../../../src/protocol/events";
import type { SessionLog } from "../log/session-log";

type Reader = {
  request: StreamRequest;
  /** The key that the stream was requested with; `null` without a key. */
  keyId: string | null;
  cursor: number;
  /**
   * The end of the turn that it follows; `null` while that turn runs, or if it follows the session.
   */
  lastSeq: number | null;
  openedAt: number;
  sentAt: number;
  /** Bytes published since its last read. */
  behind: number;
  /** Set while it waits for rows. */
  wake: (() => void) | null;
  controller: ReadableStreamDefaultController<Uint8Array> | null;
  /** The callbacks of its stream. The reader references them, the stream does not. */
  source: Source | null;
};

type Source = {
  start: (controller: ReadableStreamDefaultController<Uint8Array>) => void;
  pull: (controller: ReadableStreamDefaultController<Uint8Array>) => Promise<void>;
  cancel: () => void;
};

type Options = {
  log: SessionLog;
  sessionId: string;
  maxReaders: number;
  /** Unix ms, by the session's clock. */
  now: () => number;
  /** When the latest turn ended, unix ms; `null` while it runs. */
  endedAt: () => number | null;
};

const encoder = new TextEncoder();

/**
 * All readers of a session's streams: replay, then live, without gap or repetition. A reader is a
 * cursor into the log. It takes the next bytes only when its socket has room, so that a slow reader
 * costs neither memory nor the run's time. Readers get only rows that are on disk. Rows committed
 * close together reach many readers in one write.
 */
export class EventStreams {
  readonly #options: Options;
  readonly #readers = new Set<Reader>();
  readonly #cache = new FrameCache();
  readonly #batcher = new RowBatcher({
    readers: () => this.#readers.size,
    send: (rows) => this.#announce(rows),
  });
  #durable: number;
  #ticker: ReturnType<typeof setInterval> | null = null;

  constructor(options: Options) {
    this.#options = options;
    this.#durable = options.log.head;
  }

  /** Whether there are readers. */
  get watched(): boolean {
    return this.#readers.size > 0;
  }

  /** Whether no further reader is accepted. */
  get isFull(): boolean {
    return this.#readers.size >= this.#options.maxReaders;
  }

  /** Sends rows that are on disk to readers: soon, and in order. */
  publish(rows: readonly LogRow[]): void {
    this.#batcher.add(rows);
  }

  #announce(rows: readonly LogRow[]): void {
    this.#durable = Math.max(this.#durable, rows.at(-1)?.seq ?? 0);
    const batch = this.watched ? toBatch(rows, this.#options.sessionId) : null;
    if (!batch) return;
    this.#cache.push(batch);
    const end = rows.find(({ type }) => isTerminal(type));
    for (const reader of this.#readers) {
      if (end && reader.request.turn === end.turn) reader.lastSeq = end.seq;
      this.#notify(reader, batch.all.byteLength);
    }
  }

  /** Keys of open streams, each once. */
  keyIds(): string[] {
    return [...new Set([...this.#readers].flatMap(({ keyId }) => keyId ?? []))];
  }

  /** Closes the streams of a key that is no longer valid. */
  closeOf(keyId: string): void {
    for (const reader of this.#readers) {
      if (reader.keyId === keyId && reader.controller) this.#close(reader, reader.controller);
    }
  }

  /** Closes every stream after sending what is available at once. */
  end(): void {
    this.#batcher.flush();
    for (const reader of [...this.#readers]) {
      if (!reader.controller) continue;
      const rest = this.#next(reader);
      if (rest) reader.controller.enqueue(rest);
      this.#close(reader, reader.controller);
    }
  }

  /** A stream of frames that begins after `request.after`. */
  open(request: StreamRequest, keyId: string | null = null): ReadableStream<Uint8Array> {
    const now = this.#options.now();
    const place = request.turn === null ? null : this.#options.log.turn(request.turn);
    const reader: Reader = {
      request,
      keyId,
      cursor: Math.max(request.after, (place?.firstSeq ?? 1) - 1),
      lastSeq: place?.lastSeq ?? null,
      openedAt: now,
      sentAt: now,
      behind: 0,
      wake: null,
      controller: null,
      source: null,
    };
    const source: Source = {
      start: (controller) => {
        reader.controller = controller;
        controller.enqueue(encoder.encode(`retry: ${STREAM.retryMs}\n\n`));
      },
      pull: (controller) => this.#fill(reader, controller),
      cancel: () => this.#remove(reader),
    };
    reader.source = source;
    this.#readers.add(reader);
    this.#ticker ??= setInterval(() => this.#tick(), STREAM.tickMs);
    return streamOf(new WeakRef(source));
  }

  async #fill(
    reader: Reader,
    controller: ReadableStreamDefaultController<Uint8Array>,
  ): Promise<void> {
    reader.behind = 0;
    for (;;) {
      if (!this.#readers.has(reader)) return;
      const bytes = this.#next(reader);
      if (bytes) return this.#send(reader, controller, bytes);
      if (this.#isOver(reader)) return this.#close(reader, controller);
      await new Promise<void>((resolve) => {
        reader.wake = resolve;
      });
      reader.wake = null;
      if (!this.#readers.has(reader)) return;
      if (this.#options.now() - reader.sentAt >= STREAM.heartbeatMs)
        return this.#send(reader, controller, encoder.encode(":\n\n"));
    }
  }

  #send(
    reader: Reader,
    controller: ReadableStreamDefaultController<Uint8Array>,
    bytes: Uint8Array,
  ): void {
    reader.sentAt = this.#options.now();
    controller.enqueue(bytes);
  }

  /**
   * The next bytes for the reader; moves its cursor behind them. `null` if there is nothing new.
   */
  #next(reader: Reader): Uint8Array | null {
    while (reader.cursor < this.#durable && !hasAll(reader)) {
      const batch = this.#cache.after(reader.cursor);
      const bytes =
        batch && suits(batch, reader.request) ? takeBatch(reader, batch) : this.#readPage(reader);
      if (bytes.byteLength > 0) return bytes;
    }
    return null;
  }

  #readPage(reader: Reader): Uint8Array {
    const { log, sessionId } = this.#options;
    const { turn, deltas } = reader.request;
    const upTo = Math.min(this.#durable, reader.lastSeq ?? this.#durable);
    const frames: string[] = [];
    let size = 0;
    for (const row of log.read({ after: reader.cursor, upTo, deltas })) {
      reader.cursor = row.seq;
      if (turn !== null && row.turn !== turn) continue;
      const frame = toFrame(row, sessionId);
      frames.push(frame);
      size += frame.length;
      if (size >= STREAM.pageBytes) return encoder.encode(frames.join(""));
    }
    reader.cursor = upTo;
    return encoder.encode(frames.join(""));
  }

  /**
   * A turn's stream ends with the turn. A session's stream ends `STREAM.lingerMs` after its latest
   * turn. Every connection ends after `STREAM.connectionMs`.
   */
  #isOver(reader: Reader): boolean {
    const now = this.#options.now();
    if (now - reader.openedAt >= STREAM.connectionMs) return true;
    if (reader.request.turn !== null) return hasAll(reader);
    const endedAt = this.#options.endedAt();
    return endedAt !== null && now - Math.max(endedAt, reader.openedAt) >= STREAM.lingerMs;
  }

  #notify(reader: Reader, bytes: number): void {
    if (reader.wake) return reader.wake();
    reader.behind += bytes;
    if (reader.behind > STREAM.behindBytes && reader.controller)
      this.#close(reader, reader.controller);
  }

  #tick(): void {
    const now = this.#options.now();
    for (const reader of this.#readers) {
      const isStuck = !reader.wake && now - reader.openedAt >= STREAM.connectionMs;
      if (isStuck && reader.controller) this.#close(reader, reader.controller);
      else if (reader.wake && (now - reader.sentAt >= STREAM.heartbeatMs || this.#isOver(reader)))
        reader.wake();
    }
  }

  #close(reader: Reader, controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#remove(reader);
    controller.close();
  }

  #remove(reader: Reader): void {
    this.#readers.delete(reader);
    reader.wake?.();
    if (this.#readers.size > 0 || this.#ticker === null) return;
    clearInterval(this.#ticker);
    this.#ticker = null;
  }
}

/**
 * A stream that does not keep its source in memory. The runtime (workerd) never releases a
 * JavaScript stream whose object is discarded while it has a reader (`ctx.abort`, a failed write).
 * The source would keep the whole session in memory. A function outside the class, because closures
 * of one scope share everything that any of them references.
 */
function streamOf(source: WeakRef<Source>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => source.deref()?.start(controller),
      pull: (controller) => source.deref()?.pull(controller),
      cancel: () => source.deref()?.cancel(),
    },
    { highWaterMark: 0 },
  );
}

/** Whether a turn's reader has received the end of the turn. */
const hasAll = ({ lastSeq, cursor }: Reader): boolean => lastSeq !== null && cursor >= lastSeq;

const suits = (batch: FrameBatch, { turn }: StreamRequest): boolean =>
  turn === null || (batch.turns.size === 1 && batch.turns.has(turn));

function takeBatch(reader: Reader, batch: FrameBatch): Uint8Array {
  reader.cursor = batch.to;
  return reader.request.deltas ? batch.all : batch.summary;
}
