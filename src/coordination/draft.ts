import type { SessionEvent, Usage } from "../protocol/events";
import type { AgentRules } from "../protocol/team";
import { evolve } from "./evolve";
import type { Input, WorkspaceFacts } from "./inputs";
import { createRandom, type Random } from "./random";
import {
  type AgentState,
  agentAt,
  filesRound,
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
  /**
   * The attempt that was on before, with each agent's last round: of these is told what agents wrote. In an attempt that begins here
   * no agent has written anything.
   */
  readonly #told: { turn: number; attempt: number; rounds: readonly number[] } | null;
  #state: SessionState;

  constructor(state: SessionState, input: Input) {
    this.#state = state;
    this.at = Math.max(state.lastAt, input.at);
    this.random = createRandom(input.seed);
    this.#partials = input.partials;
    this.#files = input.files ?? {};
    this.#usages = input.usages ?? {};
    const turn = runningTurn(state);
    const rounds = turn?.attempt.agents.map(filesRound) ?? [];
    this.#told = turn && { turn: turn.number, attempt: turn.attempt.number, rounds };
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

  /** The agent's workspace; null if it has none, or if it is not known. In a round that begins here nothing has changed yet. */
  filesOf(index: number): WorkspaceFacts | null {
    const facts = this.#files[index] ?? null;
    const isSameRound = this.#isTold && this.#told?.rounds[index] === filesRound(this.agent(index));
    return facts && !isSameRound ? { files: facts.files, changed: false } : facts;
  }

  /** Paths of files that the agent has written and not handed over yet; empty if none are known. */
  written(index: number): readonly string[] {
    return this.filesOf(index)?.written ?? [];
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
  inRound(index: number): {
    at: number;
    turn: number;
    attempt: number;
    agent: string;
    round: number;
  } {
    return { ...this.of(index), round: this.round(index).number };
  }
}
