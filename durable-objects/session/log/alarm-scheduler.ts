import { WATCHDOG_MS } from "../../shared/limits";

/** An alarm that its own handler sets to this very moment may never ring (cloudflare/workerd, issue 6866). */
const LEAST_MS = 1;

/**
 * When the object acts by itself. A timer in memory is exact; the one alarm outlives the object: it is the earliest of the
 * next timer and the watchdog, and written only when it must ring earlier than it would.
 */
export class WakeUp {
  readonly #storage: DurableObjectStorage;
  readonly #onTime: () => void;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #alarmAt: number | null = null;

  constructor(storage: DurableObjectStorage, onTime: () => void) {
    this.#storage = storage;
    this.#onTime = onTime;
  }

  /**
   * While a turn runs: how long until the next timer, in ms, or null where only the watchdog matters. When none runs: how long
   * until there is something else to do, which can wait for the alarm, or null for nothing.
   */
  async arm(isRunning: boolean, nextTimerMs: number | null): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (!isRunning)
      return nextTimerMs === null
        ? this.#disarm()
        : this.#alarm(Math.max(0, Math.ceil(nextTimerMs)));
    // Rounded up: a timer that rings a fraction of a millisecond early finds nothing due.
    const delay = Math.min(WATCHDOG_MS, Math.max(0, Math.ceil(nextTimerMs ?? WATCHDOG_MS)));
    this.#timer = setTimeout(this.#onTime, delay);
    await this.#alarm(delay);
  }

  async #alarm(delay: number): Promise<void> {
    const now = Date.now();
    const wanted = now + Math.max(LEAST_MS, delay);
    // One whose moment has passed may never ring: it keeps no other from being set.
    if (this.#alarmAt !== null && this.#alarmAt <= wanted && this.#alarmAt > now) return;
    this.#alarmAt = wanted;
    await this.#storage.setAlarm(wanted);
  }

  /** To be called first of all when the alarm rings: it is gone now, and another must stand before any work begins. */
  async rang(isRunning: boolean): Promise<void> {
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
