import type { SessionEvent, Usage } from "../protocol/events";
import type { AgentRules } from "../protocol/team";
import { numberOf } from "../protocol/turn-team";
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
import { rememberAnswers, type World } from "./world";

/**
 * One decided event with the states before and after it. Do not fold the event again: `after` is
 * the result. `after` of one step is `before` of the next.
 */
export type Step = { event: SessionEvent; before: SessionState; after: SessionState };

export const eventsOf = (steps: readonly Step[]): SessionEvent[] => steps.map(({ event }) => event);

/** The state after all steps; `before` if there are no steps. */
export const stateAfter = (before: SessionState, steps: readonly Step[]): SessionState =>
  steps.at(-1)?.after ?? before;

/**
 * The work of one `decide`: the steps so far, and the state after them. Each rule reads the state
 * that includes the events of the rules before it.
 */
export class Draft {
  readonly steps: Step[] = [];
  readonly at: number;
  readonly random: Random;
  readonly #world: World;
  /**
   * The attempt that ran before this input, with the number of each agent's last round. `World`
   * knows only these. In an attempt or round that this draft starts, no agent has written anything.
   */
  readonly #attemptBefore: { turn: number; attempt: number; rounds: readonly number[] } | null;
  #state: SessionState;

  constructor(state: SessionState, { at, seed }: Pick<Input, "at" | "seed">, world: World) {
    this.#state = state;
    this.at = Math.max(state.lastAt, at);
    this.random = createRandom(seed);
    this.#world = rememberAnswers(world);
    const turn = runningTurn(state);
    const rounds = turn?.attempt.agents.map(filesRound) ?? [];
    this.#attemptBefore = turn && { turn: turn.number, attempt: turn.attempt.number, rounds };
  }

  get state(): SessionState {
    return this.#state;
  }

  /** The running turn. Throws if no turn runs, so rules may read it only while a turn runs. */
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

  /** The number of an agent in labels, from 1. */
  numberOf(index: number): number {
    return numberOf(this.rulesOf(index), index);
  }

  /** The agent's open round. Throws if no round is open. */
  round(index: number): RoundState {
    const { round } = this.agent(index);
    if (!round) throw new Error(`agent ${index} has no open round`);
    return round;
  }

  /** Text that the agent has streamed so far; `null` if none. Text of a persona call is ignored. */
  partial(index: number): string | null {
    if (!this.#isAttemptBefore || this.agent(index).round?.purpose === "personas") return null;
    const text = this.#world.partial(index)?.trim();
    return text ? text : null;
  }

  /** Whether the attempt is the one that ran before this input. */
  get #isAttemptBefore(): boolean {
    return (
      this.#attemptBefore?.attempt === this.attempt.number &&
      this.#attemptBefore.turn === this.turn.number
    );
  }

  /**
   * Facts about the agent's workspace. `null` if the agent has no workspace, or if nothing is known
   * about it. A round that this draft starts has not changed any file yet.
   */
  workspace(index: number): WorkspaceFacts | null {
    const facts = this.#world.workspace(index);
    const isKnownRound =
      this.#isAttemptBefore && this.#attemptBefore?.rounds[index] === filesRound(this.agent(index));
    return facts && !isKnownRound ? { files: facts.files, changed: false } : facts;
  }

  /** Paths of files that the agent has written since its last answer; empty if none are known. */
  writtenPaths(index: number): readonly string[] {
    return this.workspace(index)?.written ?? [];
  }

  /** Usage that a call in flight has reported so far; `null` if none. */
  reportedUsage(effectId: string): Usage | null {
    return this.#world.usage(effectId);
  }

  add(event: SessionEvent): void {
    const before = this.#state;
    this.#state = evolve(before, event);
    this.steps.push({ event, before, after: this.#state });
  }

  /** Fields of every event of this attempt. */
  attemptFields(): { at: number; turn: number; attempt: number } {
    return { at: this.at, turn: this.turn.number, attempt: this.attempt.number };
  }

  /** Fields of every event of an agent. */
  agentFields(index: number): { at: number; turn: number; attempt: number; agent: string } {
    return { ...this.attemptFields(), agent: this.agent(index).id };
  }

  /** Fields of every event of an agent's open round. */
  roundFields(index: number): {
    at: number;
    turn: number;
    attempt: number;
    agent: string;
    round: number;
  } {
    return { ...this.agentFields(index), round: this.round(index).number };
  }
}
