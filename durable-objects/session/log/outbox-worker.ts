import { WATCHDOG_MS } from "../../../src/engine/alarm-scheduler";
import type { BackgroundWork } from "../../../src/engine/ports";
import { logError } from "../../../src/redaction/log";
import type { Outbox } from "./outbox";

/**
 * The result of one delivery. `later`: the delivery must be repeated, but this is no error.
 * `again`: the delivery must be repeated with this changed body.
 */
export type DeliveryResult<Body> = "done" | "later" | { again: Body };

type Options<Body> = {
  outbox: Outbox<Body>;
  /** Throws if the delivery failed. */
  deliver: (body: Body) => Promise<DeliveryResult<Body>>;
  /** Unix ms, by the session's clock. */
  now: () => number;
  /** Prefix of logged errors. */
  errorLabel: readonly [failure: string, session: string];
};

/** Delivers the items of an outbox one after the other. A failed item waits for its next try. */
export class OutboxWorker<Body> implements BackgroundWork {
  readonly #options: Options<Body>;
  #running: Promise<void> | null = null;
  #isStopped = false;

  constructor(options: Options<Body>) {
    this.#options = options;
  }

  /**
   * Starts to deliver due items. Resolves when no item is due. Returns `null` if the
   * worker is already running or no item is due.
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
   * When `start` should be called again, unix ms; `null` if the outbox is empty. While an item is
   * in progress, this is at least the watchdog interval later, in case the platform stops that
   * work.
   */
  nextAt(now: number): number | null {
    if (this.#isStopped) return null;
    const next = this.#options.outbox.nextAt(now);
    return next !== null && this.#running !== null ? Math.max(next, now + WATCHDOG_MS) : next;
  }

  /** Delivers all items, also those that are not due yet. Throws at the first item that fails. */
  async finish(): Promise<void> {
    await this.#running;
    const { outbox, deliver } = this.#options;
    for (;;) {
      const item = outbox.due(Number.MAX_SAFE_INTEGER);
      if (!item) return;
      await deliver(item.body);
      outbox.done(item.id);
    }
  }

  /** Prevents further deliveries; resolves when none is in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #drain(): Promise<void> {
    const { outbox, deliver, now, errorLabel } = this.#options;
    await null; // Lets the caller continue and set the alarm before the work begins.
    for (let item = outbox.due(now()); item && !this.#isStopped; item = outbox.due(now())) {
      try {
        const delivered = await deliver(item.body);
        if (delivered === "done") outbox.done(item.id);
        else if (delivered === "later") outbox.failed(item, now());
        else outbox.failed({ ...item, body: delivered.again }, now());
      } catch (error) {
        if (this.#isStopped) return;
        outbox.failed(item, now());
        logError(...errorLabel, error);
      }
    }
  }
}
