import { queuedPath, queuePath, resumeQueuePath } from "../src/protocol/paths";
import { ClientError } from "./errors";
import { sleep } from "./sleep";
import type { Transport } from "./transport";
import type { QueuedTurn, SessionQueue } from "./types";

type Cancellable = { signal?: AbortSignal | undefined };
/** A queued request of a session. */
export type QueuedPlace = { session: string; id: string };

/** First and longest time in ms between two requests of `started`. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5_000;

/** The requests of a session that wait for the running turn. */
export class Queue {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists the requests in the order of their start, and says why the first one waits. */
  get(session: string, { signal }: Cancellable = {}): Promise<SessionQueue> {
    const path = queuePath(session);
    return this.#transport.json<SessionQueue>({ method: "GET", path, signal });
  }

  /** Reads the position of a request; once it has started, its turn. */
  find({ session, id }: QueuedPlace, { signal }: Cancellable = {}): Promise<QueuedTurn> {
    const path = queuedPath(session, id);
    return this.#transport.json<QueuedTurn>({ method: "GET", path, signal });
  }

  /**
   * Waits until a request has started, and returns the number of its turn. A held queue starts
   * nothing until it is resumed. Throws ClientError `refused` with the code `queued_not_found` if
   * the request was removed. `onWait`: called with the position after each question to the service.
   */
  async started(
    place: QueuedPlace,
    { signal, onWait }: Cancellable & { onWait?: (position: number) => void } = {},
  ): Promise<number> {
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2)) {
      const { turn, position } = await this.find(place, { signal });
      if (turn !== null) return turn;
      if (position === null)
        throw new ClientError("unexpected", "A queued request has neither a position nor a turn.");
      onWait?.(position);
      await sleep(waitMs, signal);
    }
  }

  /** Removes a request that has not started. */
  async remove({ session, id }: QueuedPlace, { signal }: Cancellable = {}): Promise<void> {
    await this.#transport.send({ method: "DELETE", path: queuedPath(session, id), signal });
  }

  /** Resumes a held queue. A second call has no further effect. */
  resume(session: string, { signal }: Cancellable = {}): Promise<SessionQueue> {
    const path = resumeQueuePath(session);
    return this.#transport.json<SessionQueue>({ method: "POST", path, json: {}, signal });
  }
}
