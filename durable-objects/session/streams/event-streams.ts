import type { StreamRequest } from "../../../src/protocol/stream-request";
import { type FrameBatch, FrameCache, type LogRow, toBatch, toFrame } from "./frames";
import { RowBatcher } from "./row-batcher";
import type { NextSegment } from "./runtime-stream";
import { STREAM } from "../../shared/object-limits";
import { isTerminal } from "../../../src/protocol/events";
import type { SessionLog } from "../log/session-log";

type Reader = {
  request: StreamRequest;
  /** The key that the stream was requested with; `null` without a key. */
  keyId: string | null;
  /** The number of the last row that was sent or skipped. */
  cursor: number;
  /**
   * The last row of the turn that the reader follows; `null` while that turn runs, or if the reader
   * follows the whole session.
   */
  lastSeq: number | null;
  /** Unix ms. */
  openedAt: number;
  /** When the last bytes were sent, unix ms. */
  sentAt: number;
  /** Bytes published since the reader's last read. */
  unreadBytes: number;
  /** An event outside of the log that the reader has not received yet; `null` if there is none. */
  notice: Uint8Array | null;
  /** Ends the reader's wait; set while the reader waits for rows. */
  wake: (() => void) | null;
  /** The controller of the current segment of the stream; `null` between two segments. */
  controller: ReadableStreamDefaultController<Uint8Array> | null;
  /** Number of chunks in the current segment. */
  chunks: number;
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
 * All readers of a session's streams. A reader first gets stored rows and then new rows, without
 * gap or repetition. A reader is a cursor into the log: it reads the next bytes only when its
 * socket can accept them, so that a slow reader costs no memory and does not delay the session.
 * Readers get only rows that are on disk. Rows that are committed within a short time are sent in
 * one write.
 */
export class EventStreams {
  readonly #options: Options;
  readonly #readers = new Set<Reader>();
  readonly #cache = new FrameCache();
  readonly #batcher = new RowBatcher({
    readers: () => this.#readers.size,
    send: (rows) => this.#announce(rows),
  });
  /** The number of the last row that is on disk. */
  #durableSeq: number;
  #ticker: ReturnType<typeof setInterval> | null = null;

  constructor(options: Options) {
    this.#options = options;
    this.#durableSeq = options.log.head;
  }

  /** Whether there are readers. */
  get watched(): boolean {
    return this.#readers.size > 0;
  }

  /** Whether no further reader is accepted. */
  get isFull(): boolean {
    return this.#readers.size >= this.#options.maxReaders;
  }

  /** Sends rows to readers in order, at once or after a short delay. The rows must be on disk. */
  publish(rows: readonly LogRow[]): void {
    this.#batcher.add(rows);
  }

  #announce(rows: readonly LogRow[]): void {
    this.#durableSeq = Math.max(this.#durableSeq, rows.at(-1)?.seq ?? 0);
    const batch = this.watched ? toBatch(rows, this.#options.sessionId) : null;
    if (!batch) return;
    this.#cache.push(batch);
    const turnEnd = rows.find(({ type }) => isTerminal(type));
    for (const reader of this.#readers) {
      if (turnEnd && reader.request.turn === turnEnd.turn) reader.lastSeq = turnEnd.seq;
      this.#notify(reader, batch.all.byteLength);
    }
  }

  /**
   * Sends a frame that is not in the log to all readers, after the rows that they have not received
   * yet. It replaces an earlier frame that a reader has not received.
   */
  notify(frame: string): void {
    this.#batcher.flush();
    const notice = encoder.encode(frame);
    for (const reader of this.#readers) {
      reader.notice = notice;
      reader.wake?.();
    }
  }

  /** The ids of the keys of open streams, each once. */
  keyIds(): string[] {
    return [...new Set([...this.#readers].flatMap(({ keyId }) => keyId ?? []))];
  }

  /** Closes all streams of this key. */
  closeOf(keyId: string): void {
    for (const reader of this.#readers) if (reader.keyId === keyId) this.#close(reader);
  }

  /** Sends each reader the rows that it has not received yet, and closes every stream. */
  end(): void {
    this.#batcher.flush();
    for (const reader of [...this.#readers]) {
      const rest = reader.controller && this.#next(reader);
      if (rest) reader.controller?.enqueue(rest);
      this.#close(reader);
    }
  }

  /**
   * Opens a stream of frames that begins after `request.after`, in segments of at most
   * `STREAM.segmentChunks` chunks (`toRuntimeStream`). `gone`: its abort says that the reader has
   * disconnected. `notice`: a frame that is not in the log, sent after the stored rows; omitted if
   * there is none.
   */
  open(
    request: StreamRequest,
    keyId: string | null = null,
    gone: AbortSignal | null = null,
    notice?: string | null,
  ): NextSegment {
    const now = this.#options.now();
    const place = request.turn === null ? null : this.#options.log.turn(request.turn);
    const reader: Reader = {
      request,
      keyId,
      cursor: Math.max(request.after, (place?.firstSeq ?? 1) - 1),
      lastSeq: place?.lastSeq ?? null,
      openedAt: now,
      sentAt: now,
      unreadBytes: 0,
      notice: notice ? encoder.encode(notice) : null,
      wake: null,
      controller: null,
      chunks: 0,
    };
    this.#readers.add(reader);
    this.#ticker ??= setInterval(() => this.#tick(), STREAM.tickMs);
    gone?.addEventListener("abort", () => this.#close(reader));
    let opening: Uint8Array | null = encoder.encode(`retry: ${STREAM.retryMs}\n\n`);
    return () => {
      const segment = this.#readers.has(reader) ? this.#segment(reader, opening) : null;
      opening = null;
      return segment;
    };
  }

  /** The next part of a reader's stream. It begins with `opening`, if this is not `null`. */
  #segment(reader: Reader, opening: Uint8Array | null): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          reader.controller = controller;
          reader.chunks = 0;
          if (opening !== null) controller.enqueue(opening);
        },
        pull: (controller) => this.#fill(reader, controller),
        cancel: () => this.#remove(reader),
      },
      { highWaterMark: 0 },
    );
  }

  async #fill(
    reader: Reader,
    controller: ReadableStreamDefaultController<Uint8Array>,
  ): Promise<void> {
    reader.unreadBytes = 0;
    for (;;) {
      if (!this.#readers.has(reader)) return;
      const bytes = this.#next(reader) ?? takeNotice(reader);
      if (bytes) return this.#send(reader, controller, bytes);
      if (this.#isOver(reader)) return this.#close(reader);
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
    reader.chunks += 1;
    if (reader.chunks < STREAM.segmentChunks) return;
    reader.controller = null;
    controller.close();
  }

  /**
   * The next bytes for the reader; `null` if there are no new rows. Advances the reader's cursor.
   */
  #next(reader: Reader): Uint8Array | null {
    while (reader.cursor < this.#durableSeq && !hasAll(reader)) {
      const batch = this.#cache.after(reader.cursor);
      const bytes =
        batch && matches(batch, reader.request) ? takeBatch(reader, batch) : this.#readPage(reader);
      if (bytes.byteLength > 0) return bytes;
    }
    return null;
  }

  #readPage(reader: Reader): Uint8Array {
    const { log, sessionId } = this.#options;
    const { turn, deltas } = reader.request;
    const upTo = Math.min(this.#durableSeq, reader.lastSeq ?? this.#durableSeq);
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
    reader.unreadBytes += bytes;
    if (reader.unreadBytes > STREAM.behindBytes) this.#close(reader);
  }

  #tick(): void {
    const now = this.#options.now();
    for (const reader of this.#readers) {
      const isStuck = !reader.wake && now - reader.openedAt >= STREAM.connectionMs;
      if (isStuck) this.#close(reader);
      else if (reader.wake && (now - reader.sentAt >= STREAM.heartbeatMs || this.#isOver(reader)))
        reader.wake();
    }
  }

  /** Ends the reader's stream. Between two segments, the stream ends instead of the next one. */
  #close(reader: Reader): void {
    if (!this.#readers.has(reader)) return;
    this.#remove(reader);
    reader.controller?.close();
    reader.controller = null;
  }

  #remove(reader: Reader): void {
    this.#readers.delete(reader);
    reader.wake?.();
    if (this.#readers.size > 0 || this.#ticker === null) return;
    clearInterval(this.#ticker);
    this.#ticker = null;
    // A reader that comes later begins with the log.
    this.#cache.clear();
  }
}

/** Whether a turn's reader has received the end of the turn. */
const hasAll = ({ lastSeq, cursor }: Reader): boolean => lastSeq !== null && cursor >= lastSeq;

/** The event outside of the log that the reader has not received yet. */
function takeNotice(reader: Reader): Uint8Array | null {
  const { notice } = reader;
  reader.notice = null;
  return notice;
}

/** Whether all rows of a batch belong to the turn that the reader follows. */
const matches = (batch: FrameBatch, { turn }: StreamRequest): boolean =>
  turn === null || (batch.turns.size === 1 && batch.turns.has(turn));

function takeBatch(reader: Reader, batch: FrameBatch): Uint8Array {
  reader.cursor = batch.to;
  return reader.request.deltas ? batch.all : batch.summary;
}
