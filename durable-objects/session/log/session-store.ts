import * as z from "zod";
import {
  type CallEvent,
  chargesOf,
  emptySession,
  eventsOf,
  evolve,
  type SessionState,
  type Step,
} from "../../../src/coordination";
import type {
  Commit,
  EffectPayload,
  OpenTurn,
  RestoredSession,
  SessionStorage,
} from "../../../src/engine/ports";
import { toCostFields } from "../../../src/protocol/cost";
import type { DeltaItem, SessionEvent } from "../../../src/protocol/events";
import type { TeamRules } from "../../../src/protocol/team";
import { parseJson } from "../../../src/providers/json";
import type { RoundRecords } from "../calls/round-records";
import type { Workspaces } from "../files/workspaces";
import { type LogRow, toJson, toRow, toWire } from "../streams/frames";
import type { Journal } from "./journal";
import type { SessionLog } from "./session-log";

type Options = {
  log: SessionLog;
  journal: Journal;
  records: RoundRecords;
  files: Workspaces;
  sessionId: string;
  rules: TeamRules;
};

/** A session's tables, as its engine reads and writes them. */
export class SessionStore implements SessionStorage {
  readonly #options: Options;
  readonly write: Journal["write"];
  readonly notePoint: Journal["notePoint"];

  constructor(options: Options) {
    const { journal } = options;
    this.#options = options;
    this.write = (...args) => journal.write(...args);
    this.notePoint = (...args) => journal.notePoint(...args);
  }

  /** Computes the session's state from its log. */
  restore() {
    const { log, sessionId, rules } = this.#options;
    return restoredSession(log, sessionId, rules);
  }

  /**
   * Yields the text that was streamed and stored in the open turn, in order. Registers its offsets,
   * so that further text of a call continues after it.
   */
  *streamedSince({ firstSeq }: OpenTurn): Generator<DeltaItem> {
    const { log, journal } = this.#options;
    for (const { body } of log.readDeltas(firstSeq)) {
      const { items }: { items: DeltaItem[] } = JSON.parse(body);
      for (const item of items) {
        journal.seed(item);
        yield item;
      }
    }
  }

  /** The agent's workspace; `null` if it has none. */
  workspace(...args: Parameters<SessionStorage["workspace"]>) {
    return this.#options.files.facts(...args);
  }

  /**
   * Computes the writes of these steps. Nothing is written until the returned function is called.
   */
  prepare(steps: readonly Step[], payload: EffectPayload | null): Commit {
    const { journal, records, files } = this.#options;
    const { files: callFiles = null, wholeText = null, ...texts } = payload ?? {};
    const events = eventsOf(steps);
    const newRecords = payload ? records.render(steps, texts) : [];
    const rows = events.map(toRow);
    const filesEntry = files.entry(steps, callFiles, wholeText);
    const writeFiles = () => files.write(filesEntry);
    return (at) => journal.commit({ events, rows, records: newRecords, writeFiles }, at);
  }

  /** Computes the end of an open turn that cannot be folded. `at`: the time of the end, unix ms. */
  prepareBrokenEnd(
    open: OpenTurn,
    at: number,
  ): { events: readonly SessionEvent[]; commit: Commit } {
    const { log, journal, files } = this.#options;
    const events = brokenEnd(log, open, at);
    const rows = events.map(toRow);
    const writeFiles = () => files.end({ turn: open.turn, hasChanges: false, hasContexts: true });
    return {
      events,
      commit: (when) => journal.commit({ events, rows, records: [], writeFiles }, when),
    };
  }
}

/**
 * Computes the session's state from its log. Only an open turn is folded; of settled turns, only
 * their number is needed. If the open turn cannot be folded, because another version of the service
 * wrote it, it is reported as `broken` so that the session can end it and continue.
 */
function restoredSession(log: SessionLog, sessionId: string, rules: TeamRules): RestoredSession {
  const latest = log.turns().at(-1);
  if (!latest) return { state: emptySession, open: null, broken: null };
  const head = log.movedHead();
  const state = {
    ...{ lastAt: log.lastAt(), rules, turns: latest.turn, turn: null },
    ...(head !== null && { head }),
  };
  if (latest.lastSeq !== null) return { state, open: null, broken: null };
  try {
    const folded = fold(
      log,
      sessionId,
      { ...state, lastAt: 0 },
      { after: latest.firstSeq - 1, upTo: log.head },
    );
    return { state: folded, open: latest, broken: null };
  } catch (error) {
    return { state, open: latest, broken: error };
  }
}

type Range = { after: number; upTo: number };

function fold(log: SessionLog, sessionId: string, from: SessionState, range: Range): SessionState {
  let state = from;
  for (const row of log.read({ ...range, deltas: false })) {
    state = evolve(state, toWire(row, sessionId));
  }
  return state;
}

/**
 * The events that end an open turn that cannot be folded: first the calls in flight fail, then the
 * turn fails. `at`: unix ms.
 */
function brokenEnd(log: SessionLog, { turn, firstSeq }: OpenTurn, at: number): SessionEvent[] {
  const { usage, cost, settles } = chargesOf(
    callEvents(log.read({ after: firstSeq - 1, upTo: log.head, deltas: false })),
    at,
  );
  const message =
    "The log of this turn was written by another version of the service and cannot be continued.";
  return [
    ...settles,
    {
      type: "turn.failed",
      at,
      turn,
      code: "internal",
      message,
      agents: [],
      usage,
      ...toCostFields(cost),
    },
  ];
}

const CallEventSchema = z.looseObject({ type: z.string(), call: z.string() });

/** Yields the events of calls in these rows. Rows that cannot be parsed are skipped. */
function* callEvents(rows: Iterable<LogRow>): Generator<CallEvent> {
  for (const row of rows) {
    const { data } = CallEventSchema.safeParse(parseJson(toJson(row, "")));
    if (data) yield data;
  }
}
