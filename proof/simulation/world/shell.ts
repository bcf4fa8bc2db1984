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

/** More than this is a livelock. */
const MOST_STEPS = 100_000;

/** A run that never ended: nothing is left to happen, or the same happens for ever. */
export class StuckError extends Error {
  override readonly name = "StuckError";
}

/**
 * Drives the rules as the session's object does: one commit per input, effects performed when they are owed and due, within
 * four slots, aborted when they are no longer in flight; one timer; recovery by folding the log. No rule lives here.
 */
export class Shell {
  readonly log: NumberedEvent[] = [];
  readonly ledger: LedgerEntry[] = [];
  /** What reached tool servers, by their own account. */
  readonly tools: ReachedTool[] = [];
  /** Each agent's workspace when it answered or presented, by the event's number. */
  readonly files = new Map<number, WorkspaceFacts | null>();
  readonly timeline = new Timeline();
  /** Highest number in the log when the user asked to cancel. */
  cancelAskedAfter: number | undefined;
  /** The same of every turn. */
  readonly cancelsAsked: number[] = [];
  /** How long providers asked to be left alone, in ms, by the call they failed. */
  readonly waitsAsked = new Map<string, number>();
  steps = 0;
  /** Where the log ended at each crash. */
  readonly diedAfter: number[] = [];
  /** What a shell would suffer from although the log shows nothing. */
  readonly faults: string[] = [];
  state: SessionState = emptySession;
  readonly #world: World;
  readonly #performer: Performer;
  /** Called after each crash with the state that was lost, so that a test can compare it with the fold. */
  readonly #recovered: (lost: SessionState, folded: SessionState) => void;
  /** Time of the last input since the process started; after a crash only the log knows. */
  #heardAt: number | null = null;
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
      if (this.steps > MOST_STEPS) throw new StuckError(`still running after ${MOST_STEPS} steps`);
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

  /** One commit: compute, store, then perform what is owed. */
  input(body: InputBody): void {
    const lag = body.type === "clock" ? 0 : this.#world.clockLagMs();
    const at = this.now - lag;
    this.#heardAt = Math.max(this.#heardAt ?? at, at);
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

  /** Asks the world for the agent's workspace and notes the answer in `seen`, by agent id. */
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

  /** The process that wrote this log has died, and this one takes its place. */
  takeUp(log: readonly NumberedEvent[]): void {
    this.log.push(...log);
    this.timeline.advanceTo(log.at(-1)?.at ?? this.now);
    this.crash();
  }

  /** The process dies and comes back: all that is left is the log. */
  crash(): void {
    const lost = this.state;
    this.diedAfter.push(this.log.length);
    this.#heardAt = null;
    this.#performer.die();
    const stored: SessionEvent[] = JSON.parse(JSON.stringify(this.log));
    this.state = stored.reduce(evolve, emptySession);
    this.#recovered(lost, this.state);
    for (const effect of inFlight(this.state)) this.input({ type: "effect_interrupted", effect });
    this.#performer.sync();
  }

  /** Effects the state asks for, in its own order. */
  owed(): Effect[] {
    return owed(this.state);
  }

  #step(): void {
    const timer = nextTimerAt(this.state, this.#heardAt ?? this.state.lastAt);
    const next = this.timeline.nextAt();
    const due = timer === null ? null : this.#alarmAt(timer);
    if (due !== null && (next === null || due <= next)) return this.#clock(due, timer);
    if (next === null)
      throw new StuckError("nothing is left to happen, and the turn has not ended");
    this.timeline.runNext();
  }

  /** An alarm set for a moment may come later; drawn once per alarm. */
  #alarmAt(timer: number): number {
    if (this.#alarm.for !== timer) this.#alarm = { for: timer, late: this.#world.alarmLateMs() };
    return Math.max(timer + this.#alarm.late, this.now);
  }

  /** A turn in which nobody works and nobody is about to: only the grace of §3 is worth waiting for. */
  #complainIfIdle(timer: number | null): void {
    const turn = runningTurn(this.state);
    if (!turn || inFlight(this.state).length > 0 || this.owed().length > 0) return;
    const { graceEndsAt } = turn.attempt;
    if (timer === null || graceEndsAt === null || timer > graceEndsAt)
      this.faults.push(`nobody works, and only the timer at ${timer} goes on`);
  }

  /** A timer that is still the next one after it was answered would ring for ever. */
  #clock(at: number, timer: number | null): void {
    this.#complainIfIdle(timer);
    this.timeline.advanceTo(at);
    const before = this.state;
    this.input({ type: "clock" });
    const next = nextTimerAt(this.state, this.now);
    if (this.state === before && next !== null && next <= this.now)
      this.faults.push(`the timer at ${next} rings for ever`);
  }
}
