import {
  decide,
  type Effect,
  emptySession,
  eventsOf,
  evolve,
  inFlight,
  type InputBody,
  nextTimerAt,
  owed,
  runningTurn,
  type SessionState,
  stateAfter,
  type WorkspaceFacts,
} from "../../../src/coordination";
import type { SessionEvent } from "../../../src/protocol/events";
import type { LedgerEntry, NumberedEvent } from "../../../checker";
import type { ReachedTool } from "../../../checker/types";
import { Performer } from "./performer";
import { Timeline } from "./timeline";
import type { World } from "./world";

/** Maximum number of steps. A run with more steps is considered a livelock. */
const MAX_STEPS = 100_000;

/** Thrown if a run does not end: no event is scheduled, or there are too many steps. */
class StuckError extends Error {
  override readonly name = "StuckError";
}

/**
 * Drives the rules as the session's Durable Object does: with one commit per input, one timer, and
 * recovery by folding the log. Effects start when they are owed and due, use four slots, and are
 * aborted when they are no longer in flight. The shell contains no rules.
 */
export class Shell {
  readonly log: NumberedEvent[] = [];
  readonly ledger: LedgerEntry[] = [];
  /** The requests that tool servers received, in the servers' own record. */
  readonly tools: ReachedTool[] = [];
  /** Each agent's workspace when it answered or presented, by the event's sequence number. */
  readonly files = new Map<number, WorkspaceFacts | null>();
  readonly timeline = new Timeline();
  /** The head of the log when the user cancelled this turn. */
  cancelAskedAfter: number | undefined;
  /** The head of the log at each cancel of any turn. */
  readonly cancelsAsked: number[] = [];
  /** The delay in ms that the provider of a failed call requested, by call. */
  readonly waitsAsked = new Map<string, number>();
  steps = 0;
  /** The head of the log at each crash. */
  readonly diedAfter: number[] = [];
  /** Errors that the log does not show. */
  readonly faults: string[] = [];
  state: SessionState = emptySession;
  readonly #world: World;
  readonly #performer: Performer;
  /**
   * Called after each crash with the lost state and the fold of the log, so that tests can compare
   * both.
   */
  readonly #onRecovery: (lost: SessionState, folded: SessionState) => void;
  /** Time of the last input since the process started; `null` after a crash. */
  #lastInputAt: number | null = null;
  /** The delay of the alarm, with the timer to which the delay belongs. */
  #alarm: { timer: number | null; delayMs: number } = { timer: null, delayMs: 0 };

  constructor(world: World, onRecovery: (lost: SessionState, folded: SessionState) => void) {
    this.#world = world;
    this.#onRecovery = onRecovery;
    this.#performer = new Performer(this, world);
  }

  get now(): number {
    return this.timeline.now;
  }

  /** Runs until the turn has ended. */
  finish(): void {
    while (runningTurn(this.state)) {
      this.steps += 1;
      if (this.steps > MAX_STEPS) throw new StuckError(`still running after ${MAX_STEPS} steps`);
      this.#step();
    }
    this.#performer.abortAll();
    this.timeline.clear();
  }

  cancelAt(at: number): void {
    this.timeline.schedule(at, () => {
      this.cancelAskedAfter = this.log.length;
      this.cancelsAsked.push(this.log.length);
      this.input({ type: "cancel_requested" });
      this.input({ type: "cancel_requested" });
    });
  }

  /** Makes one commit: decides, stores the events, then performs owed effects. */
  input(body: InputBody): void {
    const lag = body.type === "clock" ? 0 : this.#world.clockLagMs();
    const at = this.now - lag;
    this.#lastInputAt = Math.max(this.#lastInputAt ?? at, at);
    const workspaces = new Map<string, WorkspaceFacts | null>();
    const input = { ...body, at, seed: this.#world.seed() };
    const steps = decide(this.state, input, {
      partial: (index) => this.#performer.partial(index),
      workspace: (index) => this.#workspace(index, workspaces),
      usage: (call) => this.#performer.usage(call),
    });
    if (steps.length === 0) return this.#performer.sync();
    const events = eventsOf(steps);
    /** Agents whose new round or presentation begins in this commit. */
    const startedAgents = new Set<string>();
    for (const [nth, event] of events.entries()) {
      const isStart =
        event.type === "presentation.started" ||
        (event.type === "round.started" && event.carries === undefined);
      if (isStart) startedAgents.add(event.agent);
      if (event.type !== "answer.submitted" && event.type !== "presentation.completed") continue;
      const files = workspaces.get(event.agent);
      const isEmpty = files && startedAgents.has(event.agent);
      if (files !== undefined)
        this.files.set(this.log.length + nth + 1, isEmpty ? { files: 0, changed: false } : files);
    }
    this.append(events);
    this.state = stateAfter(this.state, steps);
    if (this.#world.crashesNow()) this.crash();
    else this.#performer.sync();
  }

  /** Reads the agent's workspace from the world and adds its facts to `workspaces`, by agent id. */
  #workspace(index: number, workspaces: Map<string, WorkspaceFacts | null>): WorkspaceFacts | null {
    const agent = runningTurn(this.state)?.attempt.agents[index];
    if (!agent) return null;
    const files = this.#world.files(index);
    // An agent writes no files before its first call.
    const facts = files && !agent.called ? { files: files.files, changed: false } : files;
    workspaces.set(agent.id, facts);
    return facts;
  }

  /** Numbers events and appends them to the log. */
  append(events: readonly SessionEvent[]): void {
    for (const event of events) this.log.push({ ...event, sequence_number: this.log.length + 1 });
  }

  /** Continues the log of a crashed process. */
  resume(log: readonly NumberedEvent[]): void {
    this.log.push(...log);
    this.timeline.advanceTo(log.at(-1)?.at ?? this.now);
    this.crash();
  }

  /** Lets the process crash and restart from the log. */
  crash(): void {
    const lost = this.state;
    this.diedAfter.push(this.log.length);
    this.#lastInputAt = null;
    this.#performer.crash();
    const stored: SessionEvent[] = JSON.parse(JSON.stringify(this.log));
    this.state = stored.reduce(evolve, emptySession);
    this.#onRecovery(lost, this.state);
    for (const effect of inFlight(this.state)) this.input({ type: "effect_interrupted", effect });
    this.#performer.sync();
  }

  /** The owed effects, in the order in which the rules list them. */
  owed(): Effect[] {
    return owed(this.state);
  }

  #step(): void {
    const timer = nextTimerAt(this.state, this.#lastInputAt ?? this.state.lastAt);
    const next = this.timeline.nextAt();
    const due = timer === null ? null : this.#alarmAt(timer);
    if (due !== null && (next === null || due <= next)) return this.#clock(due, timer);
    if (next === null) throw new StuckError("no event is scheduled, and the turn has not ended");
    this.timeline.runNext();
  }

  /** The time at which the alarm fires. Its delay is drawn once per timer. */
  #alarmAt(timer: number): number {
    if (this.#alarm.timer !== timer) this.#alarm = { timer, delayMs: this.#world.alarmLateMs() };
    return Math.max(timer + this.#alarm.delayMs, this.now);
  }

  /**
   * Reports that a turn only waits for a timer, without a running or owed effect. The only valid
   * reason is the grace period for first answers.
   */
  #reportIdle(timer: number | null): void {
    const turn = runningTurn(this.state);
    if (!turn || inFlight(this.state).length > 0 || this.owed().length > 0) return;
    const { graceEndsAt } = turn.attempt;
    if (timer === null || graceEndsAt === null || timer > graceEndsAt)
      this.faults.push(`no effect is running or owed, and only the timer at ${timer} is left`);
  }

  /** Fires the timer. Reports a timer that changed nothing and is due again, as it never stops. */
  #clock(at: number, timer: number | null): void {
    this.#reportIdle(timer);
    this.timeline.advanceTo(at);
    const previousState = this.state;
    this.input({ type: "clock" });
    const next = nextTimerAt(this.state, this.now);
    if (this.state === previousState && next !== null && next <= this.now)
      this.faults.push(`the timer at ${next} fires forever`);
  }
}
