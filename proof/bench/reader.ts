import { createHash, type Hash } from "node:crypto";
import { get } from "node:http";

type ReaderOptions = {
  /** Ends the reading. If omitted, the reader reads until the stream ends. */
  signal?: AbortSignal;
  /** The duration of the next connection. If omitted, the reader never disconnects itself. */
  leavesAfterMs?: () => number;
  /** Whether the reader also reads the session's turns after the end of a turn. */
  followsSession?: boolean;
  /** Called for each frame with an id. */
  onFrame?: (frame: string, seq: number) => void;
};

/**
 * A client of an event stream. It stores only a hash of its frames. After a lost connection it
 * discards the incomplete frame and resumes after the last complete frame.
 */
export class Reader {
  frames = 0;
  /** UTF-8 bytes of all frames with their blank lines. */
  utf8Bytes = 0;
  /** Frames whose id is not the previous id plus 1. */
  outOfOrder = 0;
  connections = 0;
  lastSeq = 0;
  /** Resolves at the end of the stream: after a 204 or the turn's last event. */
  readonly ended: Promise<void>;
  readonly #url: string;
  readonly #options: ReaderOptions;
  readonly #hash: Hash = createHash("sha256");
  #hasEnded = false;

  constructor(url: string, options: ReaderOptions = {}) {
    this.#url = url;
    this.#options = options;
    this.ended = this.#follow();
  }

  /** The hash of all frames, in order. */
  digest(): string {
    return this.#hash.copy().digest("hex");
  }

  async #follow(): Promise<void> {
    while (!this.#hasEnded && !this.#options.signal?.aborted) {
      this.connections += 1;
      await this.#connect();
      if (!this.#hasEnded) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  #connect(): Promise<void> {
    const { signal, leavesAfterMs } = this.#options;
    return new Promise((resolve, reject) => {
      const headers = {
        accept: "text/event-stream",
        ...(this.lastSeq > 0 && { "last-event-id": String(this.lastSeq) }),
      };
      const request = get(
        this.#url,
        { agent: false, headers, ...(signal && { signal }) },
        (response) => {
          if (response.statusCode === 204) this.#hasEnded = true;
          else if (response.statusCode !== 200)
            return reject(new Error(`${this.#url} answered ${response.statusCode}`));
          const timer = leavesAfterMs && setTimeout(() => request.destroy(), leavesAfterMs());
          let incompleteFrame = "";
          response.setEncoding("utf8");
          response.on("data", (text: string) => {
            incompleteFrame = this.#readFrames(incompleteFrame + text);
            if (this.#hasEnded) request.destroy();
          });
          response
            .on("error", () => undefined)
            .once("close", () => {
              clearTimeout(timer);
              resolve();
            });
        },
      );
      request.on("error", () => resolve());
    });
  }

  /** Processes the complete frames of a text and returns the incomplete frame at its end. */
  #readFrames(text: string): string {
    const end = text.lastIndexOf("\n\n");
    if (end < 0) return text;
    for (const frame of text.slice(0, end).split("\n\n")) {
      const seq = Number(/^id: (\d+)$/m.exec(frame)?.[1] ?? Number.NaN);
      if (Number.isNaN(seq)) continue; // `retry:` and heartbeats have no id.
      if (this.lastSeq > 0 && seq !== this.lastSeq + 1) this.outOfOrder += 1;
      this.lastSeq = seq;
      this.frames += 1;
      this.utf8Bytes += Buffer.byteLength(frame) + "\n\n".length;
      this.#hash.update(`${frame}\n\n`);
      this.#options.onFrame?.(frame, seq);
      if (
        !this.#options.followsSession &&
        /^event: turn\.(completed|failed|cancelled)$/m.test(frame)
      )
        this.#hasEnded = true;
    }
    return text.slice(end + 2);
  }
}

const RETRY_MS = 5;
