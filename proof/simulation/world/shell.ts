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

/** More steps than this mean a livelock. */
const MAX_STEPS = 100_000;

/** A run that did not end: no event is scheduled, or the same steps repeat forever. */
class StuckError extends Error {
  override readonly name = "StuckError";
}

/**
 * Drives the rules as the session's object does: one commit per input, one timer, recovery by
 * folding the log. Effects start when they are owed and due, use four slots, and are aborted when
 * no longer in flight. It contains no rules.
 */
export class Shell {
  readonly log: NumberedEvent[] = [];
  readonly ledger: LedgerEntry[] = [];
  /** Requests that reached tool servers, in their own record. */
  readonly tools: ReachedTool[] = [];
  /** Each agent's workspace when it answered or presented, by the event's sequence number. */
  readonly files = new Map<number, WorkspaceFacts | null>();
  readonly timeline = new Timeline();
  /** Highest sequence number when the user cancelled. */
  cancelAskedAfter: number | undefined;
  /** The same for every turn. */
  readonly cancelsAsked: number[] = [];
  /** Delays in ms that providers asked for, by failed call. */
  readonly waitsAsked = new Map<string, number>();
  steps = 0;
  /** Head of the log at each crash. */
  readonly diedAfter: number[] = [];
  /** Errors that the log does not show. */
  readonly faults: string[] = [];
  state: SessionState = emptySession;
  readonly #world: World;
  readonly #performer: Performer;
  /**
   * Called after each crash with the lost state and the fold of the log, so that tests can compare
   * them.
   */
  readonly #recovered: (lost: SessionState, folded: SessionState) => void;
  /** Time of the last input since the process started; `null` after a crash. */
  #lastInputAt: number | null = null;
  #alarm: { for: number | null; late: number } = { for: null, late: 0 };

  constructor(world: World, recovered: (lost: SessionState, folded: SessionState) => void) {
    this.#world = world;
    this.#recovered = recovered;
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

  /** One commit: decide, store, then perform owed effects. */
  input(body: InputBody): void {
    const lag = body.type === "clock" ? 0 : this.#world.clockLagMs();
    const at = this.now - lag;
    this.#lastInputAt = Math.max(this.#lastInputAt ?? at, at);
    const seen = new Map<string, WorkspaceFacts | null>();
    const input = { ...body, at, seed: this.#world.seed() };
    const steps = decide(this.state, input, {
      partial: (index) => this.#performer.partial(index),
      workspace: (index) => this.#workspace(index, seen),
      usage: (call) => this.#performer.usage(call),
    });
    if (steps.length === 0) return this.#performer.sync();
    const events = eventsOf(steps);
    const begun = new Set<string>();
    for (const [nth, event] of events.entries()) {
      const begins =
        event.type === "presentation.started" ||
        (event.type === "round.started" && event.carries === undefined);
      if (begins) begun.add(event.agent);
      if (event.type !== "answer.submitted" && event.type !== "presentation.completed") continue;
      const files = seen.get(event.agent);
      const isFresh = files && begun.has(event.agent);
      if (files !== undefined)
        this.files.set(this.log.length + nth + 1, isFresh ? { files: 0, changed: false } : files);
    }
    this.append(events);
    this.state = stateAfter(this.state, steps);
    if (this.#world.diesNow()) this.crash();
    else this.#performer.sync();
  }

  /** Reads the agent's workspace from the world and records it in `seen`, by agent id. */
  #workspace(index: number, seen: Map<string, WorkspaceFacts | null>): WorkspaceFacts | null {
    const agent = runningTurn(this.state)?.attempt.agents[index];
    if (!agent) return null;
    const files = this.#world.files(index);
    // An agent writes no files before its first call.
    const known = files && !agent.called ? { files: files.files, changed: false } : files;
    seen.set(agent.id, known);
    return known;
  }

  /** Numbers and stores events. */
  append(events: readonly SessionEvent[]): void {
    for (const event of events) this.log.push({ ...event, sequence_number: this.log.length + 1 });
  }

  /** Continues the log of a process that died. */
  resume(log: readonly NumberedEvent[]): void {
    this.log.push(...log);
    this.timeline.advanceTo(log.at(-1)?.at ?? this.now);
    this.crash();
  }

  /** The process dies and restarts from the log. */
  crash(): void {
    const lost = this.state;
    this.diedAfter.push(this.log.length);
    this.#lastInputAt = null;
    this.#performer.die();
    const stored: SessionEvent[] = JSON.parse(JSON.stringify(this.log));
    this.state = stored.reduce(evolve, emptySession);
    this.#recovered(lost, this.state);
    for (const effect of inFlight(this.state)) this.input({ type: "effect_interrupted", effect });
    this.#performer.sync();
  }

  /** Owed effects, in the state's order. */
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

  /** An alarm may be late; the delay is drawn once per alarm. */
  #alarmAt(timer: number): number {
    if (this.#alarm.for !== timer) this.#alarm = { for: timer, late: this.#world.alarmLateMs() };
    return Math.max(timer + this.#alarm.late, this.now);
  }

  /**
   * Reports a turn without running or owed effects. Only the end of the grace period (§3) is a
   * valid reason to wait.
   */
  #reportIdle(timer: number | null): void {
    const turn = runningTurn(this.state);
    if (!turn || inFlight(this.state).length > 0 || this.owed().length > 0) return;
    const { graceEndsAt } = turn.attempt;
    if (timer === null || graceEndsAt === null || timer > graceEndsAt)
      this.faults.push(`no effect is running or owed, and only the timer at ${timer} is left`);
  }

  /** A timer that remains the next one after it fired would fire forever. */
  #clock(at: number, timer: number | null): void {
    this.#reportIdle(timer);
    this.timeline.advanceTo(at);
    const before = this.state;
    this.input({ type: "clock" });
    const next = nextTimerAt(this.state, this.now);
    if (this.state === before && next !== null && next <= this.now)
      this.faults.push(`the timer at ${next} fires forever`);
  }
}
