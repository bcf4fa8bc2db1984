import {
  agentAt,
  LIMITS,
  placeOfCall,
  runningTurn,
  type SessionState,
  type TurnState,
} from "../coordination";
import type { DeltaItem } from "../protocol/events";
import { LongestText } from "./longest-text";
import { partialContent } from "./partial-content";

/**
 * Where a piece of streamed text belongs. A stored delta has the same fields. For tool arguments,
 * `name` is the tool's name.
 */
export type PiecePosition = Pick<DeltaItem, "agent" | "round" | "call" | "kind" | "name">;

/** The streamed texts of one agent, by the place where they were written. */
type AgentTexts = {
  /** `content` in the arguments of `new_answer` calls. */
  answer: LongestText;
  /** Kept separate, because the text of this round does not count if it wrote the personas. */
  firstRound: LongestText;
  laterRounds: LongestText;
  /** Text of the presentation. */
  final: LongestText;
};

/**
 * The text that each agent of the latest attempt has streamed so far. It becomes the agent's
 * partial answer if the agent fails. Receives every piece as it arrives; after a restart, it
 * receives the stored pieces in order. Memory is bounded, and text is decoded only when it is read.
 */
export class PartialOutputs {
  #attempt = 0;
  #turn = 0;
  #texts = new Map<string, AgentTexts>();
  /** Whether a call belongs to the latest attempt, by call id. Cached: a call has many pieces. */
  #isLatestCall = new Map<string, boolean>();
  /** Ids of the agents that have an answer in the latest attempt. */
  #answeredAgents = new Set<string>();

  /** Ignores pieces of earlier attempts; the first piece of a new attempt clears all others. */
  add(piece: PiecePosition, text: string): void {
    if (text === "" || !this.#isOfLatest(piece.call)) return;
    if (piece.kind !== "final" && this.#answeredAgents.has(piece.agent)) return;
    switch (piece.kind) {
      case "tool_arguments":
        if (piece.name === "new_answer") this.#textsOf(piece.agent).answer.append(piece.call, text);
        return;
      case "text":
        this.#textsOf(piece.agent)[piece.round === 1 ? "firstRound" : "laterRounds"].append(
          piece.call,
          text,
        );
        return;
      case "final":
        this.#textsOf(piece.agent).final.append(piece.call, text);
        return;
      case "reasoning":
      case "hosted_tool":
        return;
    }
  }

  /**
   * Records that the agent has an answer in the latest attempt. Of its streamed texts, only the
   * text of a presentation still counts.
   */
  answered(agent: string): void {
    this.#answeredAgents.add(agent);
    const texts = this.#texts.get(agent);
    if (texts) this.#texts.set(agent, { ...emptyTexts(), final: texts.final });
  }

  /**
   * The partial text of the agent at this index: the final text for the presenter, or the best text
   * of an agent without an answer. `null` if the agent has streamed no text that counts.
   */
  partial(state: SessionState, index: number): string | null {
    const turn = runningTurn(state);
    if (!turn || turn.number !== this.#turn || turn.attempt.number !== this.#attempt) return null;
    const { id, answers } = agentAt(turn.attempt, index);
    const texts = this.#texts.get(id);
    if (!texts || (answers > 0 && index !== turn.attempt.presenter)) return null;
    return bestText(turn, index, texts);
  }

  #isOfLatest(call: string): boolean {
    const existing = this.#isLatestCall.get(call);
    if (existing !== undefined) return existing;
    const isLatest = this.#enterAttempt(call);
    this.#isLatestCall.set(call, isLatest);
    return isLatest;
  }

  /**
   * Whether the call belongs to the latest attempt. The first call of a later attempt makes that
   * attempt the latest one, and clears the texts of the earlier one.
   */
  #enterAttempt(call: string): boolean {
    const place = placeOfCall(call);
    if (!place || place.turn < this.#turn) return false;
    if (place.turn === this.#turn && place.attempt <= this.#attempt)
      return place.attempt === this.#attempt;
    this.#texts = new Map();
    this.#isLatestCall = new Map();
    this.#answeredAgents = new Set();
    this.#turn = place.turn;
    this.#attempt = place.attempt;
    return true;
  }

  #textsOf(agent: string): AgentTexts {
    const existing = this.#texts.get(agent);
    if (existing) return existing;
    const texts = emptyTexts();
    this.#texts.set(agent, texts);
    return texts;
  }
}

const emptyTexts = (): AgentTexts => ({
  answer: new LongestText(LIMITS.answerBytes, partialContent),
  firstRound: new LongestText(LIMITS.answerBytes),
  laterRounds: new LongestText(LIMITS.answerBytes),
  final: new LongestText(LIMITS.finalBytes),
});

function bestText(turn: TurnState, index: number, texts: AgentTexts): string {
  if (index === turn.attempt.presenter) return texts.final.read();
  const answer = texts.answer.read();
  if (answer.trim() !== "") return answer;
  const first = wrotePersonas(turn, index) ? "" : texts.firstRound.read();
  const later = texts.laterRounds.read();
  return later.length > first.length ? later : first;
}

/** The persona round comes before all other rounds of the attempt. */
const wrotePersonas = (turn: TurnState, index: number): boolean =>
  turn.rules.personas && index === 0;
