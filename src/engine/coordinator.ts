import { PartialOutputs } from "../agents/partial-outputs";
import {
  decide,
  emptySession,
  eventsOf,
  failInternally,
  type Input,
  type InputBody,
  runningTurn,
  type SessionState,
  stateAfter,
  type Step,
  type World,
} from "../coordination";
import type { DeltaItem, SessionEvent, Usage } from "../protocol/events";
import type { ResumePoint } from "../providers/provider";
import type {
  Commit,
  DeltaSource,
  EffectPayload,
  OpenTurn,
  SessionHost,
  SessionInputs,
  StreamInputs,
} from "./ports";

/**
 * The result of an input: its events, the state after them, and the function that stores them. All
 * three are computed before anything is written.
 */
type DecidedStep = { events: readonly SessionEvent[]; state: SessionState; commit: Commit };

type Options = Pick<SessionHost, "storage" | "now" | "report">;

/**
 * Holds the session's state. For every input, the rules decide the events. The events are stored in
 * one transaction, and then the state changes. There is no `await` in between, so no other input
 * can be handled meanwhile.
 */
export class Coordinator implements SessionInputs, StreamInputs {
  readonly #host: Options;
  readonly #streamed = new PartialOutputs();
  readonly #usages = new Map<string, Usage>();
  #state: SessionState = emptySession;
  #lastInputAt = 0;
  #afterInput: (events: readonly SessionEvent[]) => void = () => {};

  constructor(host: Options) {
    this.#host = host;
  }

  get state(): SessionState {
    return this.#state;
  }

  /** Time of the latest input, unix ms. Everything that was due at this time has been handled. */
  get lastInputAt(): number {
    return this.#lastInputAt;
  }

  /**
   * Sets the listener that is called after every input. It gets the events of the input, which may
   * be none.
   */
  afterInput(listener: (events: readonly SessionEvent[]) => void): void {
    this.#afterInput = listener;
  }

  /**
   * Sets the state that was computed from the log. `streamed`: text that models had streamed in the
   * open turn.
   */
  restore(state: SessionState, streamed: Iterable<DeltaItem>): void {
    this.#state = state;
    for (const item of streamed) this.#streamed.add(item, item.text);
    for (const { id, answers } of runningTurn(state)?.attempt.agents ?? [])
      if (answers > 0) this.#streamed.answered(id);
  }

  handle(body: InputBody, payload: EffectPayload = {}): readonly SessionEvent[] {
    const input: Input = { ...body, at: this.#host.now(), seed: randomSeed() };
    this.#lastInputAt = Math.max(this.#lastInputAt, input.at);
    const decided = this.#decide(this.#state, input, payload);
    this.#commit(decided, input.at);
    this.#afterInput(decided.events);
    return decided.events;
  }

  write(source: DeltaSource, text: string, point: ResumePoint | null): void {
    if (!this.#isInFlight(source.call)) return;
    this.#streamed.add(source, text);
    this.#host.storage.write(source, text, point);
  }

  notePoint(call: string, point: ResumePoint): void {
    if (this.#isInFlight(call)) this.#host.storage.notePoint(call, point);
  }

  noteUsage(call: string, usage: Usage): void {
    if (this.#isInFlight(call)) this.#usages.set(call, usage);
  }

  /**
   * Reports an internal error and ends the running turn as failed, so that the turn never hangs.
   */
  fault(error: unknown): void {
    this.#host.report(error);
    const at = this.#host.now();
    const decided = this.#failed(this.#state, at);
    this.#commit(decided, at);
    this.#afterInput(decided.events);
  }

  /**
   * Ends an open turn that cannot be folded because another version of the service wrote it.
   * `broken`: the error.
   */
  endBroken(open: OpenTurn, broken: unknown): void {
    this.#host.report(broken);
    const at = this.#host.now();
    const { events, commit } = this.#host.storage.prepareBrokenEnd(open, at);
    this.#commit({ events, commit, state: { ...this.#state, lastAt: at } }, at);
  }

  #isInFlight(call: string): boolean {
    return runningTurn(this.#state)?.inFlight[call] !== undefined;
  }

  /**
   * Decides an input. If a rule fails, the running turn fails instead. All errors occur here,
   * before anything is written.
   */
  #decide(before: SessionState, input: Input, payload: EffectPayload): DecidedStep {
    try {
      const steps = decide(before, input, this.#world(before, input, payload));
      return this.#prepare(before, steps, payload);
    } catch (error) {
      if (input.type === "turn_requested") throw error;
      this.#host.report(error);
      return this.#failed(before, input.at);
    }
  }

  #failed(before: SessionState, at: number): DecidedStep {
    return this.#prepare(before, failInternally(before, at), null);
  }

  #prepare(
    before: SessionState,
    steps: readonly Step[],
    payload: EffectPayload | null,
  ): DecidedStep {
    if (steps.length === 0) return { events: [], state: before, commit: () => {} };
    const commit = this.#host.storage.prepare(steps, payload);
    return { events: eventsOf(steps), state: stateAfter(before, steps), commit };
  }

  /** Facts that the rules may ask for, as they are before an input. */
  #world(before: SessionState, input: Input, { files }: EffectPayload): World {
    const call = { effect: "effect" in input ? input.effect : null, staged: files?.staged ?? null };
    return {
      partial: (agent) => this.#streamed.partial(before, agent),
      workspace: (agent) => this.#host.storage.workspace(before, agent, call),
      usage: (id) => this.#usages.get(id) ?? null,
    };
  }

  #commit({ events, state, commit }: DecidedStep, at: number): void {
    if (events.length === 0) return;
    commit(at);
    this.#state = state;
    for (const event of events) {
      if (event.type === "call.completed" || event.type === "call.failed")
        this.#usages.delete(event.call);
      if (event.type === "answer.submitted") this.#streamed.answered(event.agent);
    }
  }
}

const randomSeed = (): number => crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
