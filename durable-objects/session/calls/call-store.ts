import type { CallRecord, RoundRecord } from "../../../src/agents/records";
import { STORE } from "../../shared/object-limits";
import { chunks } from "../log/chunks";
import type { Sql } from "../object-storage";

/** Identifies the conversation of one round. `agent`: its index in the team. */
export type RoundPlace = { turn: number; attempt: number; agent: number; round: number };

/**
 * The conversations of agents, which are never sent to clients. Each round stores its first
 * messages once and then only additions, in chunks well below the size limit of a row. Records must
 * be written in the transaction of the events that they belong to.
 */
export class CallStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Appends records to the conversations of their rounds. */
  append(turn: number, records: readonly RoundRecord[]): void {
    const rounds = Map.groupBy(
      records,
      ({ attempt, agent, round }) => `${attempt} ${agent} ${round}`,
    );
    for (const group of rounds.values()) {
      const [first] = group;
      if (first)
        this.#write(
          { turn, ...first },
          group.map(({ record }) => record),
        );
    }
  }

  /** The conversation of a round, in order; empty if nothing is stored. */
  read(place: RoundPlace): CallRecord[] {
    const rows = this.#sql
      .exec<{ body: string }>(
        "SELECT body FROM calls WHERE turn = ? AND attempt = ? AND agent = ? AND round = ? ORDER BY part",
        place.turn,
        place.attempt,
        place.agent,
        place.round,
      )
      .toArray();
    return parseLines(rows.map(({ body }) => body));
  }

  #write(place: RoundPlace, records: readonly CallRecord[]): void {
    const { turn, attempt, agent, round } = place;
    for (const body of toChunks(records))
      this.#sql.exec(
        "INSERT INTO calls (turn, attempt, agent, round, part, body) SELECT ?1, ?2, ?3, ?4, coalesce(max(part) + 1, 0), ?5 FROM calls WHERE turn = ?1 AND attempt = ?2 AND agent = ?3 AND round = ?4",
        turn,
        attempt,
        agent,
        round,
        body,
      );
  }
}

/** The records as JSON lines, cut into chunks. A chunk may end inside a record. */
function toChunks(records: readonly CallRecord[]): Iterable<string> {
  return chunks(
    records.map((record) => `${JSON.stringify(record)}\n`).join(""),
    STORE.callChunkChars,
  );
}

function parseLines(bodies: readonly string[]): CallRecord[] {
  return bodies
    .join("")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): CallRecord => JSON.parse(line));
}
