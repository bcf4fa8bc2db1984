import { type ClientRequest, get, type IncomingMessage } from "node:http";

/** Statuses of temporary refusals: too many readers, or a service that is starting. */
const TEMPORARY_STATUSES: ReadonlySet<number> = new Set([429, 503]);
/** The watcher gives up after this time without a byte. Heartbeats are far more frequent. */
const SILENCE_MS = 120_000;
const BLANK_LINE = Buffer.from("\n\n");

/** The behaviour of a watcher. */
export type Habits = {
  /** Time before it reconnects, in ms. */
  retryMs?: number;
  /** Time after which it disconnects, in ms. Omitted: it does not disconnect by itself. */
  leavesAfterMs?: number;
  /** Reading speed until `hurry` is called. Omitted: unlimited. */
  bytesPerSecond?: number;
  /** Number of turns whose end it waits for. Omitted: 1. */
  turns?: number;
  /** Id of the last event that it has. Omitted: it has none and reads from the first event. */
  after?: number;
};

/**
 * A client of an event stream that keeps the received bytes. After a lost connection it drops an
 * incomplete frame and reconnects with the id of the last complete frame. It stops after the last
 * event, after a permanent refusal, or after two minutes without a byte.
 */
export class Watcher {
  /** The bytes of each frame that has an id. */
  readonly frames: Buffer[] = [];
  /** Arrival time of each frame in `frames`, by `performance.now()`. */
  readonly cameAt: number[] = [];
  /** Number of connections that were lost or temporarily refused. */
  losses = 0;
  /** Number of attempts to connect. */
  visits = 0;
  /** Number of temporary refusals. */
  refusals = 0;
  /** Resolves after the last event of the last turn. Rejects after a refusal or a silence. */
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

  /** All bytes of `frames`. */
  get bytes(): Buffer {
    return Buffer.concat(this.frames);
  }

  /** Whether the watcher has stopped: the last event has arrived, or `leave` was called. */
  get isOver(): boolean {
    return this.#over;
  }

  /** Stops reading, also if more events follow. */
  leave(): void {
    this.#over = true;
    this.#request?.destroy();
  }

  /** Removes the limit of the reading speed. */
  hurry(): void {
    this.#isHurrying = true;
    this.#response?.resume();
  }

  /** Whether an event of this type has arrived. */
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
        else if (TEMPORARY_STATUSES.has(statusCode)) {
          this.refusals += 1;
          response.resume();
          return resolve("lost");
        } else if (statusCode !== 200 && !this.#over)
          return reject(new Error(`${this.#url} answered ${statusCode}`));
        this.#read(response, () => request.destroy());
        this.#disconnectLater(() => request.destroy());
        response
          .once("close", () => resolve(response.complete ? "closed" : "lost"))
          .on("error", () => undefined);
      });
      this.#request = request;
      request.on("error", () => resolve("lost"));
      request.setTimeout(SILENCE_MS, () => request.destroy());
    });
  }

  #disconnectLater(leave: () => void): void {
    const { leavesAfterMs } = this.#habits;
    if (leavesAfterMs !== undefined) setTimeout(leave, leavesAfterMs).unref();
  }

  #read(response: IncomingMessage, leave: () => void): void {
    let rest = Buffer.alloc(0);
    this.#response = response;
    response.on("data", (chunk: Buffer) => {
      this.#heardAt = performance.now();
      this.#slowDown(chunk, response);
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(BLANK_LINE); end >= 0; end = rest.indexOf(BLANK_LINE)) {
        this.#take(rest.subarray(0, end + BLANK_LINE.length));
        rest = rest.subarray(end + BLANK_LINE.length);
      }
      if (this.#over) leave();
    });
  }

  /** Pauses after a chunk, if the reading speed is limited. */
  #slowDown(chunk: Buffer, response: IncomingMessage): void {
    const { bytesPerSecond } = this.#habits;
    if (bytesPerSecond === undefined || this.#isHurrying) return;
    response.pause();
    setTimeout(() => response.resume(), (chunk.length / bytesPerSecond) * 1_000).unref();
  }

  /** Keeps a frame of the log. Other frames (`retry:` and heartbeats) have no id. */
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
