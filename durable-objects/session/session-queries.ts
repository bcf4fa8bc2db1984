import type { SessionStatus, TurnResponse } from "../../src/protocol/api";
import type { Attachment } from "../../src/protocol/attachments";
import type { CancelledTurn, SummaryOfTurns } from "../../src/prompts/history";
import type { WireEvent } from "../../src/protocol/events";
import { withPathsFor } from "../../src/protocol/workspace-paths";
import { type StatusMeta, toStatus, toSummary, toTurn } from "../../src/protocol/view/status";
import {
  apply,
  emptyView,
  type HistoryView,
  type SessionView,
  type TurnView,
} from "../../src/protocol/view";
import { type LogRow, toJson, toWire } from "./streams/frames";
import type { AnswerText, EventPage, PageRequest, TurnPage } from "./session-api";
import type { SessionLog, TurnPlace } from "./log/session-log";
import { STORE, STREAM } from "../shared/object-limits";
import { logError } from "../../src/redaction/log";

/**
 * Answers queries about a session. It computes views from the log with the same reducer that
 * clients use. Settled turns are read from their summaries. The view of the running turn is cached
 * and updated with each new row.
 */
export class SessionQueries {
  readonly #log: SessionLog;
  readonly #sessionId: string;
  #view: SessionView | null = null;
  /** The latest result of `history`. Only a new summary changes what it returns. */
  #past: { parent: number | null; entries: PastEntry[] } | null = null;

  constructor(log: SessionLog, sessionId: string) {
    this.#log = log;
    this.#sessionId = sessionId;
  }

  /**
   * Applies new rows to the cached view. `ended`: the number of the turn that the rows end; its
   * summary is written. To be called inside the transaction of the rows.
   */
  note(rows: readonly LogRow[], ended: number | null): void {
    if (this.#view) this.#applyAll(this.#view, rows);
    if (rows.some(({ type }) => type === "history.summarised")) this.#past = null;
    if (ended === null) return;
    const summary = this.#summary(ended);
    if (summary !== null) this.#log.saveSummary(ended, summary);
    this.#view = null;
  }

  /** The session's status; `null` if it has no turn. */
  status(meta: StatusMeta): SessionStatus | null {
    return toStatus(this.#session(), meta);
  }

  /** A page of the turns above `after`; `null` if the session has no turn. */
  turns(after: number, limit: number): TurnPage | null {
    const { turns, head } = this.#session();
    if (head === null) return null;
    const later = turns.filter(({ number }) => number > after);
    return { turns: later.slice(0, limit).map(toSummary), hasMore: later.length > limit, head };
  }

  /** A turn as the API returns it; `null` if there is none. */
  turn(number: number): TurnResponse | null {
    const place = this.#log.turn(number);
    if (!place) return null;
    return toTurn(place.lastSeq === null ? this.#session() : this.#viewOf(place), number);
  }

  /** The newest answer with this label, or that of one attempt; `null` if there is none. */
  answer(turn: number, label: string, attempt: number | null): AnswerText | null {
    const event = this.#answerEvent(turn, label, attempt);
    return event && toAnswerText(event);
  }

  /**
   * The name of the snapshot with an answer's files; `null` if there is no such answer. If the
   * author changed no file, the answer names an earlier snapshot.
   */
  snapshotOf(turn: number, label: string, attempt: number | null): AnswerFiles | null {
    const event = this.#answerEvent(turn, label, attempt);
    if (!event) return null;
    const snapshot = event.type === "answer.submitted" ? event.snapshot : event.label;
    return { attempt: event.attempt, label, snapshot };
  }

  #answerEvent(turn: number, label: string, attempt: number | null): AnswerEvent | null {
    const place = this.#log.turn(turn);
    if (!place) return null;
    const type = label.endsWith(".final") ? "presentation.completed" : "answer.submitted";
    let found: AnswerEvent | null = null;
    for (const row of this.#log.readType(place, type)) {
      const event = this.#parse(row);
      if (!isAnswer(event) || event.label !== label) continue;
      if (attempt === null || event.attempt === attempt) found = event;
    }
    return found;
  }

  /** A page of events, limited in number and in bytes. */
  page({ after, turn, deltas, limit }: PageRequest): EventPage {
    const place = turn === null ? null : this.#log.turn(turn);
    const from = place ? Math.max(after, place.firstSeq - 1) : after;
    const upTo = place?.lastSeq ?? this.#log.head;
    const events: string[] = [];
    let size = 0;
    for (const row of this.#log.read({ after: from, upTo, deltas })) {
      if (events.length >= limit || size >= STREAM.pageBytes) return { events, hasMore: true };
      events.push(toJson(row, this.#sessionId));
      size += row.body.length;
    }
    return { events, hasMore: false };
  }

  /**
   * Questions and final answers of the turn `parent` and of all turns that it continues, oldest
   * first. Empty if `parent` is `null`. Failed turns are left out. A cancelled turn has its text so
   * far, and the tools that its presenters executed. The longest stored summary is the first entry,
   * in place of the turns that it covers.
   */
  history(parent: number | null): readonly PastEntry[] {
    if (this.#past?.parent !== parent) this.#past = { parent, entries: this.#readPast(parent) };
    return this.#past.entries;
  }

  #readPast(parent: number | null): PastEntry[] {
    const pastTurns: PastTurn[] = [];
    let place = parent === null ? null : this.#log.turn(parent);
    for (; place; place = this.#parentOf(place)) {
      const summary = this.#summaryOf(place);
      if (summary) return [summary, ...pastTurns];
      const view = this.#viewOf(place).turns.at(-1);
      if (!view || view.status === "failed") continue;
      const { question, attachments = [], final, partial } = view;
      const turn = { turn: place.turn, question, attachments };
      pastTurns.unshift(
        final
          ? { ...turn, answer: this.#finalText(place, final.text) }
          : {
              ...turn,
              answer: partial?.text ?? partial?.answer ?? "",
              cancelled: { executedTools: this.#executedTools(place) },
            },
      );
    }
    return pastTurns;
  }

  /** The stored summary whose last turn this is; `null` if there is none. */
  #summaryOf({ turn }: TurnPlace): SummaryOfTurns | null {
    const row = this.#log.summary(turn);
    const event = row && this.#parse(row);
    return event?.type === "history.summarised"
      ? { summary: event.text, turns: event.turns }
      : null;
  }

  /** The names of the tools that the presenters of a turn started, each once. */
  #executedTools(place: TurnPlace): string[] {
    const roundOf = ({ agent, attempt, round }: RoundPlace) => `${agent} ${attempt} ${round}`;
    const presented = new Set(
      [...this.#log.readType(place, "presentation.started")].map((row) => {
        const event = this.#parse(row);
        return event.type === "presentation.started" ? roundOf(event) : "";
      }),
    );
    const names = [...this.#log.readType(place, "tool.started")].flatMap((row) => {
      const event = this.#parse(row);
      return event.type === "tool.started" && presented.has(roundOf(event)) ? [event.name] : [];
    });
    return [...new Set(names)];
  }

  /** A turn's final text for later turns: paths of its files lead to where agents see them. */
  #finalText(place: TurnPlace, text: string): string {
    for (const row of this.#log.readType(place, "presentation.completed")) {
      const event = this.#parse(row);
      if (event.type === "presentation.completed" && event.snapshot !== null)
        return withPathsFor({ for: "prompt", turn: place.turn }, text);
    }
    return text;
  }

  /** Attachments of all questions so far, oldest first. */
  attachments(): Attachment[] {
    return this.#log.turns().flatMap((place) =>
      [...this.#log.readType(place, "turn.started")].flatMap((row) => {
        const event = this.#parse(row);
        return event.type === "turn.started" ? (event.attachments ?? []) : [];
      }),
    );
  }

  /**
   * A turn's summary as JSON; `null` if it is too large or cannot be computed. Never throws,
   * because the turn must end in any case.
   */
  #summary(turn: number): string | null {
    try {
      const summary = JSON.stringify(withoutLongTexts(this.#turnView(turn)));
      return summary.length <= STORE.eventRowBytes / 3 ? summary : null;
    } catch (error) {
      logError("a turn has no summary", this.#sessionId, turn, error);
      return null;
    }
  }

  #parentOf({ parent }: TurnPlace): TurnPlace | null {
    return parent === null ? null : this.#log.turn(parent);
  }

  #session(): SessionView {
    this.#view ??= this.#build();
    return this.#view;
  }

  #build(): SessionView {
    const turns = this.#log
      .summaries()
      .map((summary): TurnView | null => JSON.parse(summary))
      .filter((turn) => turn !== null);
    const latest = this.#log.turns().at(-1) ?? null;
    const view = this.#viewOf(latest);
    if (latest === null || latest.lastSeq === null)
      return { ...view, turns: [...turns, ...view.turns] };
    // Only events outside of turns follow the end of the latest turn.
    const { lastSeq: after } = latest;
    this.#applyAll(view, this.#log.read({ after, upTo: this.#log.head, deltas: false }));
    return { ...view, turns: withWholeQuestion(turns, view.turns.at(-1)) };
  }

  #turnView(number: number): TurnView | null {
    const known = this.#view?.turns.find((turn) => turn.number === number);
    const place = known ? null : this.#log.turn(number);
    return known ?? (place ? (this.#viewOf(place).turns.at(-1) ?? null) : null);
  }

  /** The view of the session as if it had only this turn; without turns if `place` is `null`. */
  #viewOf(place: TurnPlace | null): SessionView {
    const view = emptyView();
    this.#applyAll(view, this.#log.read({ after: 0, upTo: 1, deltas: false }));
    if (!place) return view;
    return this.#applyAll(
      view,
      this.#log.read({
        after: place.firstSeq - 1,
        upTo: place.lastSeq ?? this.#log.head,
        deltas: false,
      }),
    );
  }

  /**
   * Applies rows to a view. Skips rows that the reducer cannot read because another version of the
   * service wrote them, so that the other rows can be shown.
   */
  #applyAll(view: SessionView, rows: Iterable<LogRow>): SessionView {
    for (const row of rows) {
      if (row.type === "stream.delta") continue;
      try {
        apply(view, this.#parse(row));
      } catch (error) {
        logError("an event cannot be read", this.#sessionId, row.seq, row.type, error);
      }
    }
    return view;
  }

  #parse(row: LogRow): WireEvent {
    return toWire(row, this.#sessionId);
  }
}

/** An earlier turn, for the prompts of a later one. */
type PastTurn = {
  turn: number;
  question: string;
  attachments: readonly Attachment[];
  answer: string;
  cancelled?: CancelledTurn;
};

type PastEntry = SummaryOfTurns | PastTurn;

type RoundPlace = { agent: string; attempt: number; round: number };

/**
 * Identifies the files of an answer. `snapshot`: the name in the answer's event; `null` if the
 * author has no workspace.
 */
export type AnswerFiles = { attempt: number; label: string; snapshot: string | null };

type AnswerEvent = Extract<WireEvent, { type: "answer.submitted" | "presentation.completed" }>;

const isAnswer = (event: WireEvent): event is AnswerEvent =>
  event.type === "answer.submitted" || event.type === "presentation.completed";

/** An answer as the API returns it. */
export function toAnswerText(event: AnswerEvent): AnswerText {
  const hasFiles = event.snapshot !== null;
  const handed = event.files && { handed_files: event.files };
  if (event.type === "answer.submitted") {
    const { label, attempt, agent, revision, content, origin, at, left_out } = event;
    return {
      label,
      attempt,
      agent,
      revision,
      content,
      origin,
      at,
      hasFiles,
      ...handed,
      ...(left_out && { left_out }),
    };
  }
  const { label, attempt, agent, content, source, at } = event;
  return {
    label,
    attempt,
    agent,
    revision: null,
    content,
    origin: source,
    at,
    hasFiles,
    ...handed,
  };
}

/**
 * The turns, with the whole question of this one. Stored summaries cut it, but the status of a
 * session shows it in full, before the end of its turn and after it.
 */
const withWholeQuestion = (turns: readonly TurnView[], latest: TurnView | undefined): TurnView[] =>
  turns.map((turn) =>
    turn.number === latest?.number ? { ...turn, question: latest.question } : turn,
  );

/** A settled turn without its long texts and its team's rules, which remain in the log. */
function withoutLongTexts(settled: TurnView | null): TurnView | null {
  if (!settled) return null;
  const { rules: _, ...turn } = settled;
  const cut = (text: string): string => text.slice(0, 1_000).toWellFormed();
  return {
    ...turn,
    question: cut(turn.question),
    ...(turn.history && { history: withoutLongSummary(turn.history, cut) }),
    final: turn.final && { ...turn.final, text: cut(turn.final.text) },
    partial: turn.partial && { winner: turn.partial.winner, answer: null, text: null },
    agents: turn.agents.map((agent) => ({
      ...agent,
      stream: null,
      vote: agent.vote && { ...agent.vote, reason: cut(agent.vote.reason) },
    })),
    attempts: turn.attempts.map((attempt) => ({
      ...attempt,
      personas: {},
      feedback: attempt.feedback && {
        reason: cut(attempt.feedback.reason),
        instructions: cut(attempt.feedback.instructions),
      },
      restart: attempt.restart && {
        ...attempt.restart,
        reason: cut(attempt.restart.reason),
        instructions: cut(attempt.restart.instructions),
      },
      answers: attempt.answers.map((answer) => ({ ...answer, content: "" })),
      votes: attempt.votes.map((vote) => ({ ...vote, reason: "" })),
      presentation: attempt.presentation && { ...attempt.presentation, content: "" },
      citations: [],
    })),
  };
}

const withoutLongSummary = (history: HistoryView, cut: (text: string) => string): HistoryView => ({
  ...history,
  written: history.written && { ...history.written, text: cut(history.written.text) },
});
