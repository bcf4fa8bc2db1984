import { KEY_CHECK_MS } from "../../shared/limits";
import { logError } from "../../../src/redaction/log";

/** Streams that are open, as far as keys go. */
type KeyedStreams = {
  /** The keys that open streams were asked for with, each once. */
  keyIds(): string[];
  closeOf(keyId: string): void;
};

type Options = {
  streams: KeyedStreams;
  /** Which of these keys are still good. */
  live(ids: readonly string[]): Promise<ReadonlySet<string>>;
};

/**
 * Closes streams whose key was revoked or has expired. Asks only while such streams are open, and only for their keys. If it gets
 * no answer the streams stay open until the next time, and never longer than any connection lasts.
 */
export class KeyRevocation {
  readonly #options: Options;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  /** A stream was opened. */
  start(): void {
    this.#timer ??= setInterval(() => void this.check(), KEY_CHECK_MS);
  }

  async check(): Promise<void> {
    const { streams, live } = this.#options;
    const ids = streams.keyIds();
    if (ids.length === 0) return this.#stop();
    try {
      const good = await live(ids);
      for (const id of ids) if (!good.has(id)) streams.closeOf(id);
    } catch (error) {
      logError("keys of open streams could not be checked", error);
    }
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}
