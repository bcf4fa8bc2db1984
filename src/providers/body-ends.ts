import { withoutFrames } from "../async/abort";
import { END_WAIT_MS } from "./call-limits";

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/**
 * Reads the ends of bodies whose readers need no more of them. After a complete reply only the end
 * is left. To read it is cheaper than to cancel the body, and the connection stays open for the
 * next call. A body that does not end within `END_WAIT_MS`, or twice this time, is cancelled. One
 * timer serves all bodies of a session, because a timer per call costs more than the read.
 */
export class BodyEnds {
  readonly #open = new Set<Reader>();
  #isTimed = false;

  /** Reads the end of a body in the background. */
  read(reader: Reader): void {
    this.#open.add(reader);
    if (!this.#isTimed) this.#cancelLater();
    reader
      .read()
      .then(({ done }) => {
        if (!done) cancel(reader);
      })
      .catch(withoutFrames) // the connection is closed already
      .finally(() => this.#open.delete(reader));
  }

  /** Cancels the bodies that are open now, unless they end in time. */
  #cancelLater(): void {
    const bodies = [...this.#open];
    this.#isTimed = true;
    setTimeout(() => {
      this.#isTimed = false;
      for (const body of bodies) if (this.#open.has(body)) cancel(body);
      if (this.#open.size > 0) this.#cancelLater();
    }, END_WAIT_MS);
  }
}

const cancel = (reader: Reader): void => void reader.cancel().catch(() => undefined);
