import { eventsOf, type Step } from "../../../src/coordination";
import type { Commit, EffectPayload, OpenTurn, SessionStorage } from "../../../src/engine/ports";
import type { DeltaItem, SessionEvent } from "../../../src/protocol/events";
import type { TeamRules } from "../../../src/protocol/team";
import type { RoundRecords } from "../calls/round-records";
import type { Workspaces } from "../files/workspaces";
import { toRow } from "../streams/frames";
import type { Journal } from "./journal";
import { brokenEnd, restore } from "./restore";
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
    this.write = (...piece) => journal.write(...piece);
    this.notePoint = (...noted) => journal.notePoint(...noted);
  }

  /** The state from the log. */
  restore() {
    const { log, sessionId, rules } = this.#options;
    return restore(log, sessionId, rules);
  }

  /**
   * Text that was stored in the open turn, in order. Further text of a call continues at its
   * offset.
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
  workspace(...asked: Parameters<SessionStorage["workspace"]>) {
    return this.#options.files.facts(...asked);
  }

  /**
   * Computes the writes of these steps. Nothing is written before the returned function is called.
   */
  prepare(steps: readonly Step[], payload: EffectPayload | null): Commit {
    const { journal, records, files } = this.#options;
    const { files: callFiles = null, wholeText = null, ...texts } = payload ?? {};
    const events = eventsOf(steps);
    const rendered = payload ? records.render(steps, texts) : [];
    const rows = events.map(toRow);
    const filesEntry = files.entry(steps, callFiles, wholeText);
    const writeFiles = () => files.write(filesEntry);
    return (at) => journal.commit({ events, rows, records: rendered, writeFiles }, at);
  }

  /** Computes the end of an open turn that cannot be folded, at `at` (unix ms). */
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
