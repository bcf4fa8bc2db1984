import { callInFlight, inFlight, nextTimerAt, owed, runningTurn } from "../coordination";
import { isTerminal, type SessionEvent } from "../protocol/events";
import { logInfo } from "../redaction/log";
import { AlarmScheduler } from "./alarm-scheduler";
import type { Coordinator } from "./coordinator";
import { EffectRunner } from "./effect-runner";
import type {
  BackgroundWork,
  Performer,
  RelaySlot,
  RequestMemorySource,
  SessionHost,
  SlotSource,
} from "./ports";

type Options = {
  host: SessionHost;
  coordinator: Coordinator;
  performer: Performer;
  /** Slots for calls that wait for their response's headers. */
  slots: SlotSource<RelaySlot>;
  /**
   * One slot for building requests: a request takes several times its size in memory while it is
   * built, so only one is built at a time.
   */
  building: SlotSource<() => void>;
  /** Memory for the bodies of requests that wait for headers. */
  memory: RequestMemorySource;
  /**
   * Time in ms for which a call may hold one of `slots` without headers while other calls wait.
   */
  maxHoldMs: number;
  /** Work that continues after the end of a turn. */
  background: readonly BackgroundWork[];
};

/**
 * Runs a session. After every input it performs the effects that the state owes. A restart uses the
 * same code: `boot` computes the state from the log, resumes or reports interrupted effects, and
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
    this.#alarm = new AlarmScheduler(host.alarm, () => this.#handleDueTime());
    this.#runner = new EffectRunner(performer, {
      ...runner,
      onFault: (error) => coordinator.fault(error),
    });
    coordinator.afterInput((events) => this.#perform(events));
  }

  /**
   * Loads the stored session and continues it. Effects that cannot be resumed are reported to the
   * rules as interrupted. A turn that cannot be folded is ended.
   */
  boot(): void {
    const { state, open, broken } = this.#host.storage.restore();
    const isRunning = open !== null && !broken;
    this.#coordinator.restore(state, isRunning ? this.#host.storage.streamedSince(open) : []);
    if (open && broken) this.#coordinator.endBroken(open, broken);
    else if (open) this.#resume();
    this.#startBackground();
    // Also needed if only background work waits: the alarm that was set for it may be lost.
    this.arm();
  }

  #resume(): void {
    const { sessionId, boot } = this.#host;
    const interrupted = inFlight(this.#coordinator.state);
    logInfo("resumed", sessionId, `boot ${boot}`, `${interrupted.length} effects interrupted`);
    for (const effect of interrupted.filter((id) => !this.#tryToResume(id))) {
      this.#coordinator.handle({ type: "effect_interrupted", effect });
    }
    this.#coordinator.handle({ type: "clock" });
  }

  /**
   * Resumes a call whose reply the provider has continued to write during the restart. The rules
   * are not involved. Returns false if the effect cannot be resumed.
   */
  #tryToResume(id: string): boolean {
    const call = callInFlight(this.#coordinator.state, id);
    const run = call && this.#runner.resume(call);
    if (run === null) return false;
    this.#host.waitUntil(run);
    return true;
  }

  /**
   * To be called when the platform's alarm fires. While a turn runs, another alarm is set before
   * anything else is done.
   */
  async wake(): Promise<void> {
    await this.#alarm.onAlarm(runningTurn(this.#coordinator.state) !== null);
    this.#handleDueTime();
  }

  /**
   * Does everything that is due. Called at the alarm, and at the timer in memory. Background work
   * is started first, so that the alarm that `handle` sets takes this work into account. The work
   * itself begins only after the alarm is set.
   */
  #handleDueTime(): void {
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

  /** Starts background work that is due, after new work was stored. Sets the alarm for the rest. */
  startBackground(): void {
    this.#startBackground();
    this.arm();
  }

  /** Sets timer and alarm to the next due time. */
  arm(): void {
    this.#arm(this.#host.now());
  }

  /** Removes timer and alarm, so that the session no longer acts by itself. */
  disarm(): Promise<void> {
    return this.#alarm.arm(false, null);
  }

  #arm(now: number): void {
    const { state, lastInputAt } = this.#coordinator;
    const isRunning = runningTurn(state) !== null;
    const nextAt = isRunning ? nextTimerAt(state, lastInputAt) : this.#nextBackgroundAt(now);
    this.#host.waitUntil(this.#alarm.arm(isRunning, nextAt === null ? null : nextAt - now));
  }

  #nextBackgroundAt(now: number): number | null {
    const times = this.#background.map((work) => work.nextAt(now)).filter((at) => at !== null);
    return times.length === 0 ? null : Math.min(...times);
  }

  /**
   * Starts background work that is due. Work that fails waits for its next try, for which the alarm
   * is set. The end of some work may make other work due.
   */
  #startBackground(): void {
    for (const work of this.#background) {
      const run = work.start(() => this.startBackground());
      if (run) this.#host.waitUntil(run);
    }
  }
}

/** Events after which there is background work. */
const leavesWork = ({ type }: SessionEvent): boolean =>
  isTerminal(type) ||
  type === "answer.submitted" ||
  type === "presentation.completed" ||
  type === "tool.completed";
