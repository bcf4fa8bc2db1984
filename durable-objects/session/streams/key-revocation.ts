import { KEY_CHECK_MS } from "../../shared/object-limits";
import { logError } from "../../../src/redaction/log";

/** The open streams, by the keys that they were requested with. */
type KeyedStreams = {
  /** The ids of the keys of open streams, each once. */
  keyIds(): string[];
  /** Closes all streams of this key. */
  closeOf(keyId: string): void;
};

type Options = {
  streams: KeyedStreams;
  /** Returns those of the ids whose keys are still valid. */
  live(ids: readonly string[]): Promise<ReadonlySet<string>>;
};

/**
 * Closes streams whose key was revoked or has expired. It checks only the keys of open streams, and
 * only while such streams are open. If a check fails, the streams stay open until the next check. A
 * connection has its own maximum duration in any case.
 */
export class KeyRevocation {
  readonly #options: Options;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Starts the checks. To be called when a stream with a key is opened. */
  start(): void {
    this.#timer ??= setInterval(() => void this.check(), KEY_CHECK_MS);
  }

  /** Checks all keys once. Never throws. */
  async check(): Promise<void> {
    const { streams, live } = this.#options;
    const ids = streams.keyIds();
    if (ids.length === 0) return this.#stop();
    try {
      const liveIds = await live(ids);
      for (const id of ids) if (!liveIds.has(id)) streams.closeOf(id);
    } catch (error) {
      logError("keys of open streams could not be checked", error);
    }
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}
