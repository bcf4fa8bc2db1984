import { KEY_CHECK_MS } from "../../shared/object-limits";
import { logError } from "../../../src/redaction/log";

/** The open streams, by the keys they were requested with. */
type KeyedStreams = {
  /** Keys of open streams, each once. */
  keyIds(): string[];
  closeOf(keyId: string): void;
};

type Options = {
  streams: KeyedStreams;
  /** The ids of these keys that are still valid. */
  live(ids: readonly string[]): Promise<ReadonlySet<string>>;
};

/**
 * Closes streams whose key was revoked or has expired. Checks only while streams with keys are
 * open, and only those keys. If a check fails, the streams stay open until the next check, and at
 * most as long as any connection.
 */
export class KeyRevocation {
  readonly #options: Options;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Starts the checks. To be called when a stream is opened. */
  start(): void {
    this.#timer ??= setInterval(() => void this.check(), KEY_CHECK_MS);
  }

  /** Checks all keys once. Never throws. */
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
