import type { AlarmStore } from "./ports";

/**
 * The longest time until the next alarm while a turn runs. If the platform stops the object, this
 * alarm loads it again.
 */
export const WATCHDOG_MS = 10_000;

/** The timer in memory does the work of an alarm that is late by this time. */
const LATE_ALARM_MS = 2_000;
/**
 * Longer than the watchdog, so that the alarm fires first. The platform limits the processor time
 * of each event, and an alarm is an event; a timer in memory is not.
 */
export const LONGEST_TIMER_MS = WATCHDOG_MS + LATE_ALARM_MS;

/**
 * The shortest time until an alarm. If the handler of an alarm sets the next alarm to the current
 * time, that alarm may never fire (cloudflare/workerd, issue 6866).
 */
const MIN_ALARM_MS = 1;

/**
 * Decides when the session acts by itself. It uses a timer in memory, which is exact, and one
 * stored alarm, which survives the end of the process. While a turn runs, the alarm is only the
 * watchdog: a write of the alarm delays all messages of the object, and the timer does the same
 * work. The alarm is written only if it must fire earlier than the alarm that is already set.
 */
export class AlarmScheduler {
  readonly #storage: AlarmStore;
  readonly #onTime: () => void;
  #timer: { dueAt: number; handle: ReturnType<typeof setTimeout> } | null = null;
  #alarmAt: number | null = null;

  constructor(storage: AlarmStore, onTime: () => void) {
    this.#storage = storage;
    this.#onTime = onTime;
  }

  /**
   * Sets timer and alarm. While a turn runs, `nextTimerMs` is the time in ms until the turn's next
   * timer; `null` if there is none. While no turn runs, it is the time in ms until the next
   * background work; `null` if there is none. Background work needs only the alarm.
   */
  async arm(isRunning: boolean, nextTimerMs: number | null): Promise<void> {
    if (!isRunning) {
      this.#stopTimer();
      return nextTimerMs === null
        ? this.#disarm()
        : this.#setAlarm(Math.max(0, Math.ceil(nextTimerMs)));
    }
    // Rounded up, because a timer that fires a fraction of a millisecond early finds nothing due.
    const delay = Math.min(LONGEST_TIMER_MS, Math.max(0, Math.ceil(nextTimerMs ?? Infinity)));
    this.#setTimer(delay);
    await this.#setAlarm(WATCHDOG_MS);
  }

  /** Keeps a timer that fires earlier: it finds nothing due, and the next timer is set then. */
  #setTimer(delay: number): void {
    const dueAt = Date.now() + delay;
    if (this.#timer !== null && this.#timer.dueAt <= dueAt) return;
    this.#stopTimer();
    const onTime = () => {
      this.#timer = null;
      this.#onTime();
    };
    this.#timer = { dueAt, handle: setTimeout(onTime, delay) };
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer.handle);
    this.#timer = null;
  }

  async #setAlarm(delay: number): Promise<void> {
    const now = Date.now();
    const alarmAt = now + Math.max(MIN_ALARM_MS, delay);
    // An alarm whose time has passed may never fire, so it is replaced.
    if (this.#alarmAt !== null && this.#alarmAt <= alarmAt && this.#alarmAt > now) return;
    this.#alarmAt = alarmAt;
    await this.#storage.setAlarm(alarmAt);
  }

  /**
   * To be called first when the alarm fires: the platform has removed the alarm, and another must
   * be set before any work begins.
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
