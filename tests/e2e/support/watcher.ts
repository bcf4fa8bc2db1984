import { type ClientRequest, get, type IncomingMessage } from "node:http";

/** Too many readers, or a service that is starting. */
const COME_AGAIN: ReadonlySet<number> = new Set([429, 503]);
/** Heartbeats are far more frequent, and slow readers have read their data by then. */
const SILENCE_MS = 120_000;
const BLANK_LINE = Buffer.from("\n\n");

export type Habits = {
  /** How long it waits before it reconnects. */
  retryMs?: number;
  /** Omitted if it never disconnects by itself. */
  leavesAfterMs?: number;
  /** Its reading speed until `hurry`; unlimited if omitted. */
  bytesPerSecond?: number;
  /** The number of turns whose end it waits for; one if omitted. */
  turns?: number;
  /** The number of its last known event; omitted if it knows none. */
  after?: number;
};

/**
 * A client of an event stream that handles only bytes: it keeps complete frames, drops unfinished
 * ones after a lost connection, and reconnects with the id of the last complete frame. It stops at
 * a final refusal, at the end, or after two minutes without a byte.
 */
export class Watcher {
  /** The bytes of every frame with an id, concatenated. */
  readonly frames: Buffer[] = [];
  /** When each of them arrived, `performance.now()`. */
  readonly cameAt: number[] = [];
  /** How often a connection was lost, or refused temporarily. */
  losses = 0;
  /** How often it connected. */
  visits = 0;
  /** How often it received a request to reconnect. */
  refusals = 0;
  /**
   * Resolves when the stream has ended for good: after the turn's last event. Rejects after a
   * refusal or a silence.
   */
  readonly ended: Promise<void>;
  readonly #url: string;
  readonly #habits: Habits;
  #lastId = "";
  #turnsLeft: number;
  #over = false;
  #request: ClientRequest | null = null;
  #response: IncomingMessage | null = null;
  #isHurrying = false;
  #heardAt = performance.now();

  constructor(url: string, habits: Habits = {}) {
    this.#url = url;
    this.#habits = habits;
    this.#turnsLeft = habits.turns ?? 1;
    if (habits.after !== undefined) this.#lastId = String(habits.after);
    this.ended = this.#follow();
    this.ended.catch(() => undefined); // callers of `ended` get the error
  }

  get bytes(): Buffer {
    return Buffer.concat(this.frames);
  }

  /** Whether the turn's last event has arrived. */
  get isOver(): boolean {
    return this.#over;
  }

  /** Stops reading, also if more events follow. */
  leave(): void {
    this.#over = true;
    this.#request?.destroy();
  }

  /** Reads as fast as it can from now on. */
  hurry(): void {
    this.#isHurrying = true;
    this.#response?.resume();
  }

  has(type: string): boolean {
    return this.frames.some((frame) => frame.includes(`event: ${type}\n`));
  }

  async #follow(): Promise<void> {
    while (!this.#over) {
      const end = await this.#connect();
      if (end === "lost") this.losses += 1;
      if (this.#over) return;
      if (performance.now() - this.#heardAt > SILENCE_MS)
        throw new Error(`${this.#url} sent nothing for ${SILENCE_MS} ms`);
      await new Promise((resolve) => setTimeout(resolve, this.#habits.retryMs ?? 15));
    }
  }

  #connect(): Promise<"lost" | "closed"> {
    this.visits += 1;
    return new Promise((resolve, reject) => {
      const headers = {
        accept: "text/event-stream",
        ...(this.#lastId && { "last-event-id": this.#lastId }),
      };
      const request = get(this.#url, { agent: false, headers }, (response) => {
        const { statusCode = 0 } = response;
        if (statusCode === 204) this.#over = true;
        else if (COME_AGAIN.has(statusCode)) {
          this.refusals += 1;
          response.resume();
          return resolve("lost");
        } else if (statusCode !== 200 && !this.#over)
          return reject(new Error(`${this.#url} answered ${statusCode}`));
        this.#read(response, () => request.destroy());
        this.#leaveLater(() => request.destroy());
        response
          .once("close", () => resolve(response.complete ? "closed" : "lost"))
          .on("error", () => undefined);
      });
      this.#request = request;
      request.on("error", () => resolve("lost"));
      request.setTimeout(SILENCE_MS, () => request.destroy());
    });
  }

  #leaveLater(leave: () => void): void {
    const { leavesAfterMs } = this.#habits;
    if (leavesAfterMs !== undefined) setTimeout(leave, leavesAfterMs).unref();
  }

  #read(response: IncomingMessage, leave: () => void): void {
    let rest = Buffer.alloc(0);
    this.#response = response;
    response.on("data", (chunk: Buffer) => {
      this.#heardAt = performance.now();
      this.#digest(chunk, response);
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(BLANK_LINE); end >= 0; end = rest.indexOf(BLANK_LINE)) {
        this.#take(rest.subarray(0, end + BLANK_LINE.length));
        rest = rest.subarray(end + BLANK_LINE.length);
      }
      if (this.#over) leave();
    });
  }

  /** A slow reader waits after each chunk. */
  #digest(chunk: Buffer, response: IncomingMessage): void {
    const { bytesPerSecond } = this.#habits;
    if (bytesPerSecond === undefined || this.#isHurrying) return;
    response.pause();
    setTimeout(() => response.resume(), (chunk.length / bytesPerSecond) * 1_000).unref();
  }

  /** `retry:` and heartbeats have no id: they belong to the connection, not to the log. */
  #take(frame: Buffer): void {
    const id = /^id: (\d+)$/m.exec(frame.toString())?.[1];
    if (id === undefined) return;
    this.#lastId = id;
    this.frames.push(Buffer.from(frame));
    this.cameAt.push(performance.now());
    if (!/^event: turn\.(completed|failed|cancelled)$/m.test(frame.toString())) return;
    this.#turnsLeft -= 1;
    if (this.#turnsLeft === 0) this.#over = true;
  }
}
