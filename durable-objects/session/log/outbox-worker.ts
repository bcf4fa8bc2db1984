import { WATCHDOG_MS } from "../../../src/engine/alarm-scheduler";
import type { BackgroundWork } from "../../../src/engine/ports";
import { logError } from "../../../src/redaction/log";
import type { Outbox } from "./outbox";

/** `later`: try again, this is no error. `again`: try again with a changed body. */
export type DeliveryResult<Body> = "done" | "later" | { again: Body };

type Options<Body> = {
  outbox: Outbox<Body>;
  /** Throws if the delivery failed. */
  deliver: (body: Body) => Promise<DeliveryResult<Body>>;
  /** Unix ms, by the session's clock. */
  now: () => number;
  /** Prefix of logged errors. */
  errorLabel: readonly [what: string, session: string];
};

/** Delivers the items of an outbox, one after the other. A failed item waits for its next try. */
export class OutboxWorker<Body> implements BackgroundWork {
  readonly #options: Options<Body>;
  #running: Promise<void> | null = null;
  #isStopped = false;

  constructor(options: Options<Body>) {
    this.#options = options;
  }

  /**
   * Starts delivering; `null` if it runs already or nothing is due. Resolves when nothing is due.
   */
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
   * When to look again, unix ms; `null` if nothing is left. While an item is in progress: after the
   * watchdog interval, in case that work is lost.
   */
  nextAt(now: number): number | null {
    if (this.#isStopped) return null;
    const next = this.#options.outbox.nextAt(now);
    return next !== null && this.#running !== null ? Math.max(next, now + WATCHDOG_MS) : next;
  }

  /** Delivers all items, due or not. Throws at the first item that fails. */
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

  /** Starts no further item; resolves when none is in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #drain(): Promise<void> {
    const { outbox, deliver, now, errorLabel } = this.#options;
    await null; // the caller continues first and sets the alarm
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
