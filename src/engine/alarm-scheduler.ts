import type { AlarmStore } from "./ports";

/** An alarm at least this often while a turn runs, so that a killed object wakes up by itself. */
export const WATCHDOG_MS = 10_000;

/**
 * An alarm that its own handler sets to the current moment may never go off (cloudflare/workerd,
 * issue 6866).
 */
const LEAST_MS = 1;

/**
 * Decides when the session acts by itself. A timer in memory is exact. The one alarm outlives the
 * process: it is set to the earlier of the next timer and the watchdog, and written only when it
 * must go off earlier than it would.
 */
export class AlarmScheduler {
  readonly #storage: AlarmStore;
  readonly #onTime: () => void;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #alarmAt: number | null = null;

  constructor(storage: AlarmStore, onTime: () => void) {
    this.#storage = storage;
    this.#onTime = onTime;
  }

  /**
   * While a turn runs, `nextTimerMs` is the time until the next timer, in ms; `null` if only the
   * watchdog matters. Otherwise it is the time until there is background work, which can wait for
   * the alarm; `null` if there is none.
   */
  async arm(isRunning: boolean, nextTimerMs: number | null): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (!isRunning)
      return nextTimerMs === null
        ? this.#disarm()
        : this.#alarm(Math.max(0, Math.ceil(nextTimerMs)));
    // Rounded up: a timer that goes off a fraction of a millisecond early finds nothing due.
    const delay = Math.min(WATCHDOG_MS, Math.max(0, Math.ceil(nextTimerMs ?? WATCHDOG_MS)));
    this.#timer = setTimeout(this.#onTime, delay);
    await this.#alarm(delay);
  }

  async #alarm(delay: number): Promise<void> {
    const now = Date.now();
    const wanted = now + Math.max(LEAST_MS, delay);
    // An alarm whose moment has passed may never go off: it must not keep another from being set.
    if (this.#alarmAt !== null && this.#alarmAt <= wanted && this.#alarmAt > now) return;
    this.#alarmAt = wanted;
    await this.#storage.setAlarm(wanted);
  }

  /**
   * To be called first when the alarm goes off: it is gone then, and another must be set before any
   * work begins.
   */
  async onAlarm(isRunning: boolean): Promise<void> {
    this.#alarmAt = null;
    if (!isRunning) return;
    this.#alarmAt = Date.now() + WATCHDOG_MS;
    await this.#storage.setAlarm(this.#alarmAt);
  }

  async #disarm(): Promise<void> {
    if (this.#alarmAt === null) return;
    this.#alarmAt = null;
    await this.#storage.deleteAlarm();
  }
}
