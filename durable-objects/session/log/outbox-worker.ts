import { logError } from "../../../src/redaction/log";
import { WATCHDOG_MS } from "../../shared/limits";
import type { Outbox } from "./outbox";

/** `later`: it waits for its next time without anything being wrong; `again`: the same, as what it has become. */
export type Delivered<Body> = "done" | "later" | { again: Body };

type Options<Body> = {
  outbox: Outbox<Body>;
  /** Throws if it could not be done. */
  deliver: (body: Body) => Promise<Delivered<Body>>;
  /** The session's time, unix ms. */
  now: () => number;
  /** Called when nothing is due any more, for the alarm to be set to what waits. */
  onIdle: () => void;
  /** What to say, before the session's id, of what failed. */
  complaint: readonly [what: string, session: string];
};

/** Empties an outbox, one piece of work after the other. What fails waits for its next time. */
export class Deliveries<Body> {
  readonly #options: Options<Body>;
  #running: Promise<void> | null = null;
  #isStopped = false;

  constructor(options: Options<Body>) {
    this.#options = options;
  }

  /** Begins, unless it is at it already or nothing is due; resolves when nothing is due any more. */
  start(): Promise<void> | null {
    const { outbox, now, onIdle } = this.#options;
    if (this.#running || this.#isStopped || outbox.due(now()) === null) return null;
    this.#running = this.#drain().finally(() => {
      this.#running = null;
      onIdle();
    });
    return this.#running;
  }

  /** When to look again. What is being done right now is due all the while: there it is for work that gets lost. */
  nextAt(now: number): number | null {
    if (this.#isStopped) return null;
    const next = this.#options.outbox.nextAt(now);
    return next !== null && this.#running !== null ? Math.max(next, now + WATCHDOG_MS) : next;
  }

  /** Does all that is left, whenever it is due. Throws at the first that fails. */
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

  /** Begins nothing any more; resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #drain(): Promise<void> {
    const { outbox, deliver, now, complaint } = this.#options;
    await null; // whoever wrote the work down, or took it up, goes on first, until the alarm is set
    for (let item = outbox.due(now()); item && !this.#isStopped; item = outbox.due(now())) {
      try {
        const delivered = await deliver(item.body);
        if (delivered === "done") outbox.done(item.id);
        else
          outbox.failed(delivered === "later" ? item : { ...item, body: delivered.again }, now());
      } catch (error) {
        if (this.#isStopped) return;
        outbox.failed(item, now());
        logError(...complaint, error);
      }
    }
  }
}
