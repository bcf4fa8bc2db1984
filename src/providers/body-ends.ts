import { END_WAIT_MS } from "./call-limits";

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/**
 * Reads the ends of bodies whose readers need no more of them. After a complete reply only the end
 * is left. To read it is cheaper than to cancel the body, and the connection stays open for the
 * next call. A body that does not end within `END_WAIT_MS`, or twice this time, is cancelled. One
 * timer serves all bodies of a session, because a timer per call costs more than the read.
 */
export class BodyEnds {
  /** The bodies that are read, with the time at which their reading began, in unix ms. */
  readonly #open = new Map<Reader, number>();
  #timer: ReturnType<typeof setTimeout> | null = null;

  /** Reads the end of a body in the background. */
  read(reader: Reader): void {
    this.#open.set(reader, Date.now());
    this.#timer ??= setTimeout(() => this.#cancelOld(), END_WAIT_MS);
    reader
      .read()
      .then(({ done }) => {
        if (!done) cancel(reader);
      })
      .catch(() => undefined) // the connection is closed already
      .finally(() => this.#open.delete(reader));
  }

  #cancelOld(): void {
    const now = Date.now();
    for (const [reader, since] of this.#open) if (now - since >= END_WAIT_MS) cancel(reader);
    this.#timer = this.#open.size > 0 ? setTimeout(() => this.#cancelOld(), END_WAIT_MS) : null;
  }
}

const cancel = (reader: Reader): void => void reader.cancel().catch(() => undefined);
