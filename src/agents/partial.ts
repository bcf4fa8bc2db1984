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

/** Where a piece of streamed text belongs; a stored delta item is one. `name` is that of the tool whose arguments stream. */
export type WrittenPiece = Pick<DeltaItem, "agent" | "round" | "call" | "kind" | "name">;

type Written = {
  answer: LongestText;
  /** Apart, because it may be the round that wrote the personas, which does not count. */
  firstRound: LongestText;
  laterRounds: LongestText;
  final: LongestText;
};

/**
 * What the agents of the latest attempt have written so far, as the protocol counts partial text. Fed with every piece as
 * it comes; after a restart, with the stored ones in their order. Holds a bounded amount and decodes only what is asked for.
 */
export class PartialTexts {
  #attempt = 0;
  #turn = 0;
  #written = new Map<string, Written>();
  /** By call id: whether its pieces count. Many come, and an id says the same each time. */
  #counts = new Map<string, boolean>();
  /** Ids of those who have an answer in the latest attempt. */
  #answered = new Set<string>();

  /** Pieces of attempts that are over are dropped; the first piece of a new one lets go of everything before. */
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

  /** In the latest attempt the agent has an answer now: what it writes beside a final text counts for nothing. */
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

  /** Whether the call belongs to the latest attempt; that of a later one makes it the latest. */
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

  #of(agent: string): Written {
    const known = this.#written.get(agent);
    if (known) return known;
    const written = nothingWritten();
    this.#written.set(agent, written);
    return written;
  }
}

const nothingWritten = (): Written => ({
  answer: new LongestText(LIMITS.answerBytes, partialContent),
  firstRound: new LongestText(LIMITS.answerBytes),
  laterRounds: new LongestText(LIMITS.answerBytes),
  final: new LongestText(LIMITS.finalBytes),
});

function read(turn: TurnState, index: number, written: Written): string {
  if (index === turn.attempt.presenter) return written.final.read();
  const answer = written.answer.read();
  if (answer.trim() !== "") return answer;
  const first = wrotePersonas(turn, index) ? "" : written.firstRound.read();
  const later = written.laterRounds.read();
  return later.length > first.length ? later : first;
}

/** The generator's round comes before all others of the attempt. */
const wrotePersonas = (turn: TurnState, index: number): boolean =>
  turn.rules.personas && index === 0;
