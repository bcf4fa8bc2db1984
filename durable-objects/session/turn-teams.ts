import type { Team } from "../../src/config/team";
import type { TeamKeys } from "./calls/team-keys";
import type { Sql } from "./object-storage";

/**
 * A team without overrides, as turns use it. `id`: `null` for the session's team, "new" for a team
 * that is not stored yet.
 */
export type StoredTeam = { id: number | "new" | null; team: Team };

/** The team of a turn that starts. `overridden`: with the turn's overrides; `null` if none. */
export type StartingTeam = { base: StoredTeam; overridden: Team | null };

type Options = {
  sql: Sql;
  /** The session's team, which its first turn brought. */
  session: Team;
};

/**
 * The teams of a session's turns, with sealed keys. A turn uses the session's team unless a request
 * on its branch brought another one. The team with a turn's overrides is stored only for the latest
 * turn: later turns use the team without them.
 */
export class TurnTeams {
  readonly session: Team;
  readonly #sql: Sql;
  readonly #teams = new Map<number, Team>();
  #current: Team;

  constructor({ sql, session }: Options) {
    this.#sql = sql;
    this.session = session;
    this.#current = this.#latest();
  }

  /** The team of the latest turn, with its overrides. The same object until the next turn. */
  current(): Team {
    return this.#current;
  }

  /** The team of a turn without its overrides: the one that turns which continue it use. */
  of(turn: number): Team {
    return this.base(turn).team;
  }

  /** Like `of`, as a team for `begin`. `null`: the session's team. */
  base(turn: number | null): StoredTeam {
    const id = turn === null ? null : (this.#row(turn)?.team ?? null);
    return { id, team: id === null ? this.session : this.#stored(id) };
  }

  /**
   * The team that a request brings. Returns a stored team if it is the same: a client may send the
   * same config with each question. Two sealed keys are never the same.
   */
  brought(team: Team): StoredTeam {
    const text = JSON.stringify(team);
    if (JSON.stringify(this.session) === text) return this.base(null);
    const query = "SELECT id FROM teams WHERE body = ?";
    const [stored] = this.#sql.exec<{ id: number }>(query, text).toArray();
    return stored ? { id: stored.id, team: this.#stored(stored.id) } : { id: "new", team };
  }

  /** All teams that turns use, without overrides. */
  all(): Team[] {
    const ids = this.#sql.exec<{ id: number }>("SELECT id FROM teams ORDER BY id").toArray();
    return [this.session, ...ids.map(({ id }) => this.#stored(id))];
  }

  /**
   * Stores the team of a turn, and makes it the current one. To be called together with the start
   * of the turn, without an `await` in between. Replaces what a failed start of the turn has
   * stored.
   */
  begin(turn: number, { base, overridden }: StartingTeam): void {
    const sql = this.#sql;
    sql.exec("DELETE FROM turn_teams WHERE turn >= ?", turn);
    sql.exec("UPDATE turn_teams SET overridden = NULL WHERE overridden IS NOT NULL");
    sql.exec(
      "DELETE FROM teams WHERE id NOT IN (SELECT team FROM turn_teams WHERE team IS NOT NULL)",
    );
    const id = base.id === "new" ? this.#add(base.team) : base.id;
    if (id !== null || overridden)
      sql.exec(
        "INSERT INTO turn_teams (turn, team, overridden) VALUES (?, ?, ?)",
        ...[turn, id, overridden && JSON.stringify(overridden)],
      );
    this.#current = overridden ?? base.team;
  }

  #add(team: Team): number {
    const query = "INSERT INTO teams (body) VALUES (?) RETURNING id";
    const { id } = this.#sql.exec<{ id: number }>(query, JSON.stringify(team)).one();
    this.#teams.set(id, team);
    return id;
  }

  #latest(): Team {
    const query = "SELECT max(turn) AS turn FROM turns";
    const { turn } = this.#sql.exec<{ turn: number | null }>(query).one();
    const overridden = turn === null ? null : (this.#row(turn)?.overridden ?? null);
    return overridden === null ? this.base(turn).team : JSON.parse(overridden);
  }

  #row(turn: number): { team: number | null; overridden: string | null } | undefined {
    const query = "SELECT team, overridden FROM turn_teams WHERE turn = ?";
    return this.#sql
      .exec<{ team: number | null; overridden: string | null }>(query, turn)
      .toArray()[0];
  }

  #stored(id: number): Team {
    const known = this.#teams.get(id);
    if (known) return known;
    const { body } = this.#sql
      .exec<{ body: string }>("SELECT body FROM teams WHERE id = ?", id)
      .one();
    const team: Team = JSON.parse(body);
    this.#teams.set(id, team);
    return team;
  }
}

/** The columns with teams, each with its key. */
const COLUMNS = [
  { table: "meta", column: "value", key: "key", only: "WHERE key = 'team'" },
  { table: "teams", column: "body", key: "id", only: "" },
  { table: "turn_teams", column: "overridden", key: "turn", only: "WHERE overridden IS NOT NULL" },
] as const;

/**
 * Loads the teams of a session. Keys that were sealed with an older version of SEALING_KEYS are
 * sealed again with the newest.
 */
export function loadTurnTeams(sql: Sql, keys: Pick<TeamKeys, "renew">): TurnTeams {
  for (const { table, column, key, only } of COLUMNS) {
    // One team at a time: a team may have over a megabyte.
    const places = sql.exec<{ place: string | number }>(
      `SELECT ${key} AS place FROM ${table} ${only}`,
    );
    for (const { place } of places.toArray()) {
      const query = `SELECT ${column} AS body FROM ${table} WHERE ${key} = ?`;
      const { body } = sql.exec<{ body: string }>(query, place).one();
      const renewed = keys.renew(JSON.parse(body));
      if (renewed)
        sql.exec(
          `UPDATE ${table} SET ${column} = ? WHERE ${key} = ?`,
          ...[JSON.stringify(renewed), place],
        );
    }
  }
  const { value } = sql.exec<{ value: string }>("SELECT value FROM meta WHERE key = 'team'").one();
  return new TurnTeams({ sql, session: JSON.parse(value) });
}
