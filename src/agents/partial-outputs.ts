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
 * Position of a piece of streamed text; a stored delta has the same fields. `name` is the tool of
 * streamed arguments.
 */
export type WrittenPiece = Pick<DeltaItem, "agent" | "round" | "call" | "kind" | "name">;

type AgentTexts = {
  answer: LongestText;
  /** Separate, because this round may have written the personas, which do not count. */
  firstRound: LongestText;
  laterRounds: LongestText;
  final: LongestText;
};

/**
 * Text that the agents of the latest attempt have written so far, for the protocol's partial texts.
 * Receives every piece as it arrives; after a restart, the stored ones in order. Memory is bounded,
 * and text is decoded on demand.
 */
export class PartialOutputs {
  #attempt = 0;
  #turn = 0;
  #written = new Map<string, AgentTexts>();
  /** Whether a call's pieces count, by call id. Cached, because a call has many pieces. */
  #counts = new Map<string, boolean>();
  /** Ids of agents with an answer in the latest attempt. */
  #answered = new Set<string>();

  /** Ignores pieces of earlier attempts; the first piece of a new attempt clears all others. */
  add(piece: WrittenPiece, text: string): void {
    if (text === "" || !this.#isOfLatest(piece.call)) return;
    if (piece.kind !== "final" && this.#answered.has(piece.agent)) return;
    switch (piece.kind) {
      case "tool_arguments":
        if (piece.name === "new_answer") this.#of(piece.agent).answer.append(piece.call, text);
        return;
      case "text":
        this.#of(piece.agent)[piece.round === 1 ? "firstRound" : "laterRounds"].append(
          piece.call,
          text,
        );
        return;
      case "final":
        this.#of(piece.agent).final.append(piece.call, text);
        return;
      case "reasoning":
      case "hosted_tool":
        return;
    }
  }

  /**
   * The agent now has an answer in the latest attempt. Its other partial texts, except a final one,
   * no longer count.
   */
  answered(agent: string): void {
    this.#answered.add(agent);
    const written = this.#written.get(agent);
    if (written) this.#written.set(agent, { ...nothingWritten(), final: written.final });
  }

  /**
   * The partial text of the agent at this index: of an agent without an answer, or the presenter's
   * final text. `null` if the agent has streamed nothing that counts. Decodes only this text.
   */
  partial(state: SessionState, index: number): string | null {
    const turn = runningTurn(state);
    if (!turn || turn.number !== this.#turn || turn.attempt.number !== this.#attempt) return null;
    const { id, answers } = agentAt(turn.attempt, index);
    const written = this.#written.get(id);
    if (!written || (answers > 0 && index !== turn.attempt.presenter)) return null;
    return read(turn, index, written);
  }

  #isOfLatest(call: string): boolean {
    const known = this.#counts.get(call);
    if (known !== undefined) return known;
    const counts = this.#enter(call);
    this.#counts.set(call, counts);
    return counts;
  }

  /**
   * Whether the call belongs to the latest attempt. A call of a later attempt makes that the
   * latest.
   */
  #enter(call: string): boolean {
    const place = placeOfCall(call);
    if (!place || place.turn < this.#turn) return false;
    if (place.turn === this.#turn && place.attempt <= this.#attempt)
      return place.attempt === this.#attempt;
    this.#written = new Map();
    this.#counts = new Map();
    this.#answered = new Set();
    this.#turn = place.turn;
    this.#attempt = place.attempt;
    return true;
  }

  #of(agent: string): AgentTexts {
    const known = this.#written.get(agent);
    if (known) return known;
    const written = nothingWritten();
    this.#written.set(agent, written);
    return written;
  }
}

const nothingWritten = (): AgentTexts => ({
  answer: new LongestText(LIMITS.answerBytes, partialContent),
  firstRound: new LongestText(LIMITS.answerBytes),
  laterRounds: new LongestText(LIMITS.answerBytes),
  final: new LongestText(LIMITS.finalBytes),
});

function read(turn: TurnState, index: number, written: AgentTexts): string {
  if (index === turn.attempt.presenter) return written.final.read();
  const answer = written.answer.read();
  if (answer.trim() !== "") return answer;
  const first = wrotePersonas(turn, index) ? "" : written.firstRound.read();
  const later = written.laterRounds.read();
  return later.length > first.length ? later : first;
}

/** The persona round comes before all other rounds of the attempt. */
const wrotePersonas = (turn: TurnState, index: number): boolean =>
  turn.rules.personas && index === 0;
