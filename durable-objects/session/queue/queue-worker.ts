import {
  afterError,
  afterRefusal,
  nextStep,
  type QueueStep,
  runningTurn,
  type SessionState,
} from "../../../src/coordination";
import { WATCHDOG_MS } from "../../../src/engine/alarm-scheduler";
import type { BackgroundWork } from "../../../src/engine/ports";
import { logError } from "../../../src/redaction/log";
import { secondsToNextDay } from "../../../src/tenancy/quota";
import type { StartedTurn, StartRefusal } from "../session-api";
import type { QueueStore, StoredRequest } from "./queue-store";

/** Starts queued requests. */
export type QueuedStarts = {
  /** Whether the key with which a request was sent is still valid. */
  isAllowed(request: StoredRequest): Promise<boolean>;
  /** Starts the turn of a request, or returns why it is refused. */
  start(request: StoredRequest): Promise<StartedTurn | StartRefusal>;
  /** Starts the turn of a request that is refused, and fails it. */
  fail(request: StoredRequest, refusal: StartRefusal): Promise<void>;
  /** Removes what is stored for a request whose turn has started. */
  finish(request: StoredRequest): Promise<void>;
};

type Options = {
  store: QueueStore;
  starts: QueuedStarts;
  state: () => SessionState;
  /** Whether the tenant has settled all turns that have ended. */
  isSettled: () => boolean;
  /** Unix ms, by the session's clock. */
  now: () => number;
  /** Called after each change of the queue that no event of the log causes. */
  onChange: () => void;
  sessionId: string;
};

/**
 * Starts the turns of a session's queue, one after the other. A request leaves the queue in the
 * transaction that stores its turn. So after a crash it is either still in the queue or has
 * started.
 */
export class QueueWorker implements BackgroundWork {
  readonly #options: Options;
  #running: Promise<void> | null = null;
  #isStopped = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** What the queue does next. */
  step(): QueueStep {
    const { store, state, isSettled, now } = this.#options;
    const isRunning = runningTurn(state()) !== null;
    return nextStep(store.queue(), { isRunning, isSettled: isSettled(), now: now() });
  }

  /** See `BackgroundWork`. */
  start(onIdle: () => void): Promise<void> | null {
    if (this.#running !== null || this.#isStopped) return null;
    const step = this.step();
    const request = step.type === "start" ? this.#options.store.request(step.id) : null;
    if (!request) return null;
    this.#running = this.#start(request).finally(() => {
      this.#running = null;
      onIdle();
    });
    return this.#running;
  }

  /**
   * See `BackgroundWork`. `null` while the next request waits for a turn or its settlement, whose
   * ends call `start`.
   */
  nextAt(now: number): number | null {
    if (this.#isStopped) return null;
    const step = this.step();
    if (this.#running !== null) return now + WATCHDOG_MS;
    if (step.type === "wait" && step.for === "limit") return step.until;
    return step.type === "start" ? now : null;
  }

  /** Prevents further starts; resolves when none is in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  /** Allows starts again, if the erasure of the session has failed. */
  restart(): void {
    this.#isStopped = false;
  }

  async #start(request: StoredRequest): Promise<void> {
    const { store, starts, now, onChange, sessionId } = this.#options;
    await null; // Lets the caller continue and set the alarm before the work begins.
    try {
      await this.#tryToStart(request);
    } catch (error) {
      store.retry(request.id, { code: "service_error", at: afterError(request.tries, now()) });
      onChange();
      logError("a queued turn was not started", sessionId, error);
      return;
    }
    if (store.request(request.id)) return;
    await starts.finish(request).catch((error: unknown) => {
      logError("attachments of a queued turn were not removed", sessionId, error);
    });
  }

  async #tryToStart(request: StoredRequest): Promise<void> {
    const { store, starts, now, onChange } = this.#options;
    if (!(await starts.isAllowed(request))) {
      store.hold("key_revoked");
      return onChange();
    }
    const started = await starts.start(request);
    if (started.ok) return;
    const resetsAt = now() + secondsToNextDay(now()) * 1_000;
    const { tries } = request;
    const next = afterRefusal({ code: started.code, tries, now: now(), resetsAt });
    if (next.type === "fail") return starts.fail(request, started);
    if (next.type === "wait") return;
    const { code } = started;
    const isLimit = code === "quota_exceeded" || code === "spend_exceeded";
    store.retry(request.id, { code: isLimit ? code : "service_error", at: next.at });
    onChange();
  }
}
