import { setTimeout as sleep } from "node:timers/promises";
import { eventsPath } from "../../src/protocol/api";
import { isTerminal, type WireEvent } from "../../src/protocol/events";
import type { Connection } from "../credentials/connection";
import { isEventStream, readStream } from "./event-stream";
import { CliError, EXIT } from "../exit-codes";
import { attachCommand } from "../invocation";
import { errorFrom } from "./problem";
import { identity } from "./request";
import { parseJson, WireEventSchema } from "./schema";

/** `raw` is the event's JSON as received; `event` is null if this program does not know it. */
export type TailMessage = { id: number; raw: string; event: WireEvent | null };

export type TailOptions = Connection & {
  sessionId: string;
  turn: number;
  /** Ends the tail by throwing its reason. */
  signal: AbortSignal;
  /** Told when the connection was lost and when it is back. */
  onConnection?: (state: "lost" | "back") => void;
  /** A connection this long without a heartbeat is dead. */
  idleMs?: number;
  /** How long to go on without any sign of life: no stream that opens, no event, no heartbeat. */
  giveUpAfterMs?: number;
};

const IDLE_MS = 45_000; // three heartbeats
const GIVE_UP_MS = 5 * 60_000;
const FIRST_RETRY_MS = 1_000;
const MAX_WAIT_MS = 30_000;

/**
 * All events of a turn, each once and in order, over any number of connections. Ends after the turn's terminal event, or
 * when the service says that there is nothing more. Throws CliError when the service refuses or stays away.
 */
export async function* tailTurn(options: TailOptions): AsyncGenerator<TailMessage> {
  const tail = new Tail(options);
  while (!tail.finished) {
    yield* tail.connect();
    if (!tail.finished) await tail.pause();
  }
}

class Tail {
  finished = false;
  #lastId = 0;
  #retryMs = FIRST_RETRY_MS;
  /** Connections in a row that brought nothing. */
  #fruitless = 0;
  #lastLife = Date.now();
  #lost = false;

  constructor(readonly options: TailOptions) {}

  /** One connection. A broken one ends quietly: the next goes on where it stopped. */
  async *connect(): AsyncGenerator<TailMessage> {
    const { server, sessionId, turn, signal, idleMs = IDLE_MS } = this.options;
    const url = new URL(eventsPath(sessionId, turn), server);
    const onRetry = (ms: number) => {
      this.#retryMs = ms;
    };
    const onLife = () => {
      this.#lastLife = Date.now();
    };
    const stream = readStream({
      url,
      headers: identity(this.options),
      lastId: this.#lastId,
      idleMs,
      signal,
      onRetry,
      onLife,
    });
    this.#fruitless += 1;
    try {
      let step = await stream.next();
      for (; !step.done; step = await stream.next())
        yield* this.#accept(step.value.data, step.value.id);
      await this.#settle(step.value);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof CliError) throw error;
    } finally {
      await stream.return(new Response(null)); // frees the connection when the reader leaves
    }
  }

  /** Longer with each fruitless connection, a little different for each client. */
  async pause(): Promise<void> {
    const { server, sessionId, signal, onConnection, giveUpAfterMs = GIVE_UP_MS } = this.options;
    if (Date.now() - this.#lastLife > giveUpAfterMs) {
      throw new CliError(
        EXIT.unreachable,
        `Lost ${server} and could not get back. The run may still go on; attach again:\n  ${attachCommand(sessionId, server)}`,
      );
    }
    if (!this.#lost) onConnection?.("lost");
    this.#lost = true;
    const wait = Math.min(MAX_WAIT_MS, this.#retryMs * 2 ** Math.min(10, this.#fruitless));
    await sleep(wait * (0.75 + Math.random() / 2), undefined, { signal }).catch(() => {
      throw signal.reason;
    });
  }

  /** Passes an event on unless it was there before. */
  *#accept(raw: string, idField: string | undefined): Generator<TailMessage> {
    this.#progress();
    const id = Number(idField);
    if (!Number.isSafeInteger(id) || id <= this.#lastId) return;
    const parsed = WireEventSchema.safeParse(parseJson(raw));
    this.#lastId = id;
    const event = parsed.success ? parsed.data : null;
    this.finished = event !== null && isTerminal(event.type);
    yield { id, raw, event };
  }

  /** Judges a connection that ended, or an answer that is no stream. */
  async #settle(response: Response): Promise<void> {
    const { status } = response;
    if (status === 204) this.finished = true;
    if (status === 204 || isEventStream(response)) return;
    // Where there has been a stream, something in between may answer for a while, such as the page of a network to log in to.
    const strange = status < 400 && this.#lastId > 0;
    if (strange || status === 408 || status === 429 || status >= 500) {
      await response.body?.cancel();
      return;
    }
    throw await errorFrom(response, this.options);
  }

  #progress(): void {
    this.#fruitless = 0;
    if (this.#lost) this.options.onConnection?.("back");
    this.#lost = false;
  }
}
