import { WATCHDOG_MS } from "../../../src/engine/alarm-scheduler";
import type { BackgroundWork } from "../../../src/engine/ports";
import { logError } from "../../../src/redaction/log";
import type { Outbox } from "./outbox";

/** `later`: to be tried again, without an error; `again`: the same, with a changed body. */
export type DeliveryResult<Body> = "done" | "later" | { again: Body };

type Options<Body> = {
  outbox: Outbox<Body>;
  /** Throws if it could not be done. */
  deliver: (body: Body) => Promise<DeliveryResult<Body>>;
  /** The session's time, unix ms. */
  now: () => number;
  /** What an error is logged with. */
  errorLabel: readonly [what: string, session: string];
};

/** Empties an outbox, one item after the other. An item that fails waits for its next time. */
export class OutboxWorker<Body> implements BackgroundWork {
  readonly #options: Options<Body>;
  #running: Promise<void> | null = null;
  #isStopped = false;

  constructor(options: Options<Body>) {
    this.#options = options;
  }

  /** Starts, unless it runs already or nothing is due; resolves when nothing is due any more. */
  start(onIdle: () => void): Promise<void> | null {
    const { outbox, now } = this.#options;
    if (this.#running || this.#isStopped || outbox.due(now()) === null) return null;
    this.#running = this.#drain().finally(() => {
      this.#running = null;
      onIdle();
    });
    return this.#running;
  }

  /**
   * When to look again, unix ms. While an item is in progress: after the watchdog interval, in case
   * that work gets lost.
   */
  nextAt(now: number): number | null {
    if (this.#isStopped) return null;
    const next = this.#options.outbox.nextAt(now);
    return next !== null && this.#running !== null ? Math.max(next, now + WATCHDOG_MS) : next;
  }

  /** Does everything that is left, due or not. Throws at the first item that fails. */
  async finish(): Promise<void> {
    await this.#running;
    const { outbox, deliver } = this.#options;
    for (
      let item = outbox.due(Number.MAX_SAFE_INTEGER);
      item;
      item = outbox.due(Number.MAX_SAFE_INTEGER)
    ) {
      await deliver(item.body);
      outbox.done(item.id);
    }
  }

  /** Starts nothing any more; resolves when nothing is in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #drain(): Promise<void> {
    const { outbox, deliver, now, errorLabel } = this.#options;
    await null; // the caller continues first, until the alarm is set
    for (let item = outbox.due(now()); item && !this.#isStopped; item = outbox.due(now())) {
      try {
        const delivered = await deliver(item.body);
        if (delivered === "done") outbox.done(item.id);
        else
          outbox.failed(delivered === "later" ? item : { ...item, body: delivered.again }, now());
      } catch (error) {
        if (this.#isStopped) return;
        outbox.failed(item, now());
        logError(...errorLabel, error);
      }
    }
  }
}
