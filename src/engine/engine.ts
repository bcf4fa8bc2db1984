import { callInFlight, inFlight, nextTimerAt, owed, runningTurn } from "../coordination";
import { isTerminal, type SessionEvent } from "../protocol/events";
import { logInfo } from "../redaction/log";
import { AlarmScheduler } from "./alarm-scheduler";
import type { Coordinator } from "./coordinator";
import { EffectRunner } from "./effect-runner";
import type { BackgroundWork, Performer, SessionHost, SlotSource } from "./ports";

type Options = {
  host: SessionHost;
  coordinator: Coordinator;
  performer: Performer;
  /** Slots for calls that wait for their response's headers. */
  slots: SlotSource;
  /** A single slot for building requests, which needs several times their size in memory. */
  building: SlotSource;
  /**
   * Time in ms for which a call may hold one of `slots` without headers while other calls wait.
   */
  maxHoldMs: number;
  background: readonly BackgroundWork[];
};

/**
 * Runs a session: performs the effects that its state owes after every input, and resumes
 * interrupted effects after a restart. Recovery takes the same path: `boot` folds the log and
 * performs the owed effects.
 */
export class Engine {
  readonly #host: SessionHost;
  readonly #coordinator: Coordinator;
  readonly #runner: EffectRunner;
  readonly #alarm: AlarmScheduler;
  readonly #background: readonly BackgroundWork[];

  constructor({ host, coordinator, performer, background, ...runner }: Options) {
    this.#host = host;
    this.#coordinator = coordinator;
    this.#background = background;
    this.#alarm = new AlarmScheduler(host.alarm, () => this.#look());
    this.#runner = new EffectRunner(performer, {
      ...runner,
      onFault: (error) => coordinator.fault(error),
    });
    coordinator.afterInput((events) => this.#perform(events));
  }

  /**
   * Loads the stored session, reports interrupted effects to the rules, and continues. Ends a turn
   * that cannot be folded.
   */
  boot(): void {
    const { state, open, broken } = this.#host.storage.restore();
    const isRunning = open !== null && !broken;
    this.#coordinator.restore(state, isRunning ? this.#host.storage.streamedSince(open) : []);
    if (open && broken) this.#coordinator.endBroken(open, broken);
    else if (open) this.#resume();
    this.#startBackground();
    this.arm(); // also for what waits for its next time: the alarm that was set for it may be lost
  }

  #resume(): void {
    const { sessionId, boot } = this.#host;
    const cutOff = inFlight(this.#coordinator.state);
    logInfo("resumed", sessionId, `boot ${boot}`, `${cutOff.length} effects interrupted`);
    for (const effect of cutOff.filter((id) => !this.#takeUp(id))) {
      this.#coordinator.handle({ type: "effect_interrupted", effect });
    }
    this.#coordinator.handle({ type: "clock" });
  }

  /**
   * Resumes a call whose reply the provider has been writing all the while; for the rules nothing
   * has happened.
   */
  #takeUp(id: string): boolean {
    const call = callInFlight(this.#coordinator.state, id);
    const run = call && this.#runner.resume(call);
    if (run === null) return false;
    this.#host.waitUntil(run);
    return true;
  }

  /**
   * To be called by the platform's alarm. While a turn runs, another alarm is set before anything
   * else happens.
   */
  async wake(): Promise<void> {
    await this.#alarm.onAlarm(runningTurn(this.#coordinator.state) !== null);
    this.#look();
  }

  /**
   * At the alarm, and at the timer in memory that may take its place. Background work starts first,
   * and begins only after the alarm is set: so the alarm protects this work and does not go off at
   * once for it.
   */
  #look(): void {
    this.#startBackground();
    this.#coordinator.handle({ type: "clock" });
  }

  #perform(events: readonly SessionEvent[]): void {
    if (events.some(leavesWork)) this.#startBackground();
    const { state } = this.#coordinator;
    const now = this.#host.now();
    for (const run of this.#runner.sync(owed(state), inFlight(state), now))
      this.#host.waitUntil(run);
    this.#arm(now);
  }

  /** Sets the alarm to the next due time. */
  arm(): void {
    this.#arm(this.#host.now());
  }

  /** Removes the alarm: nothing happens by itself any more. */
  disarm(): Promise<void> {
    return this.#alarm.arm(false, null);
  }

  #arm(now: number): void {
    const { state, lastInputAt } = this.#coordinator;
    const isRunning = runningTurn(state) !== null;
    const next = isRunning ? nextTimerAt(state, lastInputAt) : this.#nextBackgroundAt(now);
    this.#host.waitUntil(this.#alarm.arm(isRunning, next === null ? null : next - now));
  }

  #nextBackgroundAt(now: number): number | null {
    const next = this.#background.map((work) => work.nextAt(now)).filter((at) => at !== null);
    return next.length === 0 ? null : Math.min(...next);
  }

  /**
   * Starts what outlives turns. Work that fails waits for its next time, to which the alarm is set.
   */
  #startBackground(): void {
    for (const run of this.#background.map((work) => work.start(() => this.arm())))
      if (run) this.#host.waitUntil(run);
  }
}

/** Events after which there is background work. */
const leavesWork = ({ type }: SessionEvent): boolean =>
  isTerminal(type) ||
  type === "answer.submitted" ||
  type === "presentation.completed" ||
  type === "tool.completed";
