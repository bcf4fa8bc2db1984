import { eventsPath } from "../src/protocol/paths";
import { ClientError } from "./errors";
import { IdleLimit, isEventStream, readEvents, type StreamEvent } from "./event-stream";
import { isTerminal } from "./event-types";
import { toEvent, toQueue } from "./schema";
import { sleep } from "./sleep";
import type { Call, Transport } from "./transport";
import type { SessionQueue, WireEvent } from "./types";

/** One event of a turn. */
export type FollowedEvent = {
  /** Number of the event in its session; also its SSE id. */
  id: number;
  /** The event's JSON as received. */
  raw: string;
  /** `null` if this client does not know the event's type: the service may be newer. */
  event: WireEvent | null;
};

export type FollowOptions = {
  /** If it aborts, following stops and throws the signal's reason. The turn itself continues. */
  signal?: AbortSignal | undefined;
  /** Number of the last event that the caller has; 0 (default) means from the beginning. */
  after?: number | undefined;
  /** Called when the connection is lost, and when events arrive again. */
  onConnection?: ((state: "lost" | "back") => void) | undefined;
  /** Called with the session's queue when following begins, if any, and after each change. */
  onQueue?: ((queue: SessionQueue) => void) | undefined;
  /** Reconnects if no byte arrives for this time. Default: 45,000 ms, three heartbeats. */
  idleMs?: number | undefined;
  /** Throws ClientError `lost` if no byte arrives for this time. Default: 300,000 ms. */
  giveUpAfterMs?: number | undefined;
};

const IDLE_MS = 45_000;
const GIVE_UP_MS = 5 * 60_000;
const FIRST_RETRY_MS = 1_000;
const MAX_WAIT_MS = 30_000;

/** One turn of a session. Turns are numbered from 1. */
export type TurnPlace = { session: string; turn: number };
/** An existing turn, or the call that starts a turn. */
export type FollowTarget = { place: TurnPlace } | { start: Call };

/**
 * Yields each event of a turn once and in order, over any number of connections. Ends after the
 * turn's last event, or if the service responds with 204 (no more events). Throws ClientError if
 * the service refuses the request or remains unreachable.
 */
export async function* followTurn(
  transport: Transport,
  target: FollowTarget,
  options: FollowOptions = {},
): AsyncGenerator<FollowedEvent, void> {
  const follower = new Follower(transport, target, options);
  while (!follower.isFinished) {
    yield* follower.connect();
    if (!follower.isFinished) await follower.waitToReconnect();
  }
}

class Follower {
  isFinished = false;
  #place: TurnPlace | null;
  #lastId: number;
  #retryMs = FIRST_RETRY_MS;
  /** Number of consecutive connections without an event. */
  #emptyConnections = 0;
  #lastByteAt = Date.now();
  #isLost = false;

  constructor(
    readonly transport: Transport,
    readonly target: FollowTarget,
    readonly options: FollowOptions,
  ) {
    this.#place = "place" in target ? target.place : null;
    this.#lastId = options.after ?? 0;
  }

  /**
   * Reads one connection. A broken connection ends without an error, because the next one resumes
   * after the last event.
   */
  async *connect(): AsyncGenerator<FollowedEvent, void> {
    const { signal, idleMs = IDLE_MS } = this.options;
    const idle = new IdleLimit(idleMs);
    this.#emptyConnections += 1;
    try {
      const signals = signal ? AbortSignal.any([signal, idle.signal]) : idle.signal;
      const response = await this.#open(signals);
      if (!isEventStream(response)) return await this.#handleOtherResponse(response);
      this.#lastByteAt = Date.now();
      const onBytes = () => {
        idle.restart();
        this.#lastByteAt = Date.now();
      };
      const onRetry = (ms: number) => {
        this.#retryMs = ms;
      };
      for await (const event of readEvents(response, { onBytes, onRetry }))
        yield* this.#accept(event);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (error instanceof ClientError && !this.#isTransient(error)) throw error;
    } finally {
      idle.stop();
    }
  }

  /**
   * Waits before the next connection: exponential backoff, with jitter so that clients do not
   * reconnect at the same time.
   */
  async waitToReconnect(): Promise<void> {
    const { signal, onConnection, giveUpAfterMs = GIVE_UP_MS } = this.options;
    if (Date.now() - this.#lastByteAt > giveUpAfterMs)
      throw new ClientError("lost", `Connection to ${this.transport.server} lost for good.`);
    if (!this.#isLost) onConnection?.("lost");
    this.#isLost = true;
    const wait = Math.min(MAX_WAIT_MS, this.#retryMs * 2 ** Math.min(10, this.#emptyConnections));
    await sleep(wait * (0.75 + Math.random() / 2), signal);
  }

  /**
   * Opens the event stream. While the session and number of a started turn are unknown, the start
   * is repeated: it has an idempotency key, so the service returns the same turn.
   */
  #open(signal: AbortSignal): Promise<Response> {
    if ("start" in this.target && this.#place === null)
      return this.transport.connect({ ...this.target.start, signal });
    const { session, turn } = this.#place ?? { session: "", turn: 0 };
    return this.transport.connect({
      method: "GET",
      path: eventsPath(session, turn),
      headers: this.#lastId > 0 ? { "Last-Event-ID": String(this.#lastId) } : {},
      signal,
    });
  }

  /** Yields an event unless the caller already has it. */
  *#accept({ id: idField, event: type, data }: StreamEvent): Generator<FollowedEvent, void> {
    this.#emptyConnections = 0;
    if (this.#isLost) this.options.onConnection?.("back");
    this.#isLost = false;
    if (type === "queue.changed") return this.#noteQueue(data);
    const id = Number(idField);
    if (!Number.isSafeInteger(id) || id <= this.#lastId) return;
    this.#lastId = id;
    const event = toEvent(data);
    if (event && "turn" in event && typeof event.turn === "number" && event.turn > 0)
      this.#place ??= { session: event.session_id, turn: event.turn };
    this.isFinished = event !== null && isTerminal(event.type);
    yield { id, raw: data, event };
  }

  /**
   * `queue.changed` is not in the log: it has no number, and the caller does not resume after it.
   */
  #noteQueue(data: string): void {
    const queue = toQueue(data);
    if (queue) this.options.onQueue?.(queue);
  }

  /**
   * Handles a response that is not an event stream. Returns if the follower should reconnect or has
   * finished, and throws if it must stop with an error.
   */
  async #handleOtherResponse(response: Response): Promise<void> {
    const { status, body } = response;
    if (status === 204) {
      this.isFinished = true;
      return;
    }
    // If the stream worked before, a page of a proxy or a login form counts as a lost connection.
    const isFromProxy = status < 400 && this.#lastId > 0;
    const isBusy = status === 408 || status === 429 || status >= 500;
    if (isFromProxy || (isBusy && !this.#isStarting)) return body?.cancel();
    throw this.transport.errorFrom(await this.transport.complete(response));
  }

  get #isStarting(): boolean {
    return "start" in this.target && this.#place === null;
  }

  /** Whether an error ends only this connection, so that the next one may succeed. */
  #isTransient({ kind }: ClientError): boolean {
    return (kind === "unreachable" || kind === "interrupted") && !this.#isStarting;
  }
}
