import type { SessionEvent, Usage } from "../protocol/events";
import type { AgentRules } from "../protocol/team";
import { evolve } from "./evolve";
import type { Input } from "./inputs";
import { createRandom, type Random } from "./random";
import {
  type AgentState,
  agentAt,
  type AttemptState,
  type RoundState,
  runningTurn,
  type SessionState,
  type TurnState,
} from "./state";

/**
 * A decision in the making: the events so far, and the state as if they were already facts. Lives for one `decide` only, so
 * that each rule can look at what the rules before it decided.
 */
export class Draft {
  readonly events: SessionEvent[] = [];
  readonly at: number;
  readonly random: Random;
  readonly #partials: Input["partials"];
  readonly #files: NonNullable<Input["files"]>;
  readonly #usages: NonNullable<Input["usages"]>;
  /** The attempt that was on before: of it is told what agents wrote. In one that begins here nobody has written anything. */
  readonly #told: { turn: number; attempt: number } | null;
  #state: SessionState;

  constructor(state: SessionState, input: Input) {
    this.#state = state;
    this.at = Math.max(state.lastAt, input.at);
    this.random = createRandom(input.seed);
    this.#partials = input.partials;
    this.#files = input.files ?? {};
    this.#usages = input.usages ?? {};
    const turn = runningTurn(state);
    this.#told = turn && { turn: turn.number, attempt: turn.attempt.number };
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The running turn. Throws when none runs: rules ask only while one does. */
  get turn(): TurnState {
    const turn = runningTurn(this.#state);
    if (!turn) throw new Error("no turn is running");
    return turn;
  }

  get attempt(): AttemptState {
    return this.turn.attempt;
  }

  get running(): boolean {
    return runningTurn(this.#state) !== null;
  }

  agent(index: number): AgentState {
    return agentAt(this.attempt, index);
  }

  rulesOf(index: number): AgentRules {
    const rules = this.turn.rules.agents[index];
    if (!rules) throw new Error(`no agent at index ${index}`);
    return rules;
  }

  /** The open round of an agent that is known to have one. */
  round(index: number): RoundState {
    const { round } = this.agent(index);
    if (!round) throw new Error(`agent ${index} has no open round`);
    return round;
  }

  /** What the agent had written when it was cut, or null. Personas are no answer. */
  partial(index: number): string | null {
    if (!this.#isTold || this.agent(index).round?.purpose === "personas") return null;
    const text = this.#partials[index]?.trim();
    return text ? text : null;
  }

  /** Whether the attempt is the one that was on when the input came. */
  get #isTold(): boolean {
    return this.#told?.attempt === this.attempt.number && this.#told.turn === this.turn.number;
  }

  /** How many files the agent's workspace holds, as it was told of the attempt that was on before; null where it has none, or nobody knows. */
  filesOf(index: number): number | null {
    return this.#files[index] ?? null;
  }

  /** What a call in flight has reported to have used so far, or null. */
  reported(effectId: string): Usage | null {
    return this.#usages[effectId] ?? null;
  }

  add(event: SessionEvent): void {
    this.events.push(event);
    this.#state = evolve(this.#state, event);
  }

  /** The fields every event of this attempt carries. */
  here(): { at: number; turn: number; attempt: number } {
    return { at: this.at, turn: this.turn.number, attempt: this.attempt.number };
  }

  /** The same, for an event of an agent. */
  of(index: number): { at: number; turn: number; attempt: number; agent: string } {
    return { ...this.here(), agent: this.agent(index).id };
  }

  /** The same, for an event of an agent's open round. */
  inRound(index: number): { at: number; turn: number; attempt: number; agent: string; round: number } {
    return { ...this.of(index), round: this.round(index).number };
  }
}
