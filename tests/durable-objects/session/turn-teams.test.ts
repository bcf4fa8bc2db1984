import { beforeEach, describe, expect, it } from "vitest";
import { createTables } from "../../../durable-objects/session/session-tables";
import { loadTurnTeams, type TurnTeams } from "../../../durable-objects/session/turn-teams";
import { Disk } from "../../../simulated/disk";
import type { Team } from "../../../src/config/team";
import { teamOf } from "../../config/teams";

/** The teams of turns in real tables, which every step loads again. */

const team = (model: string): Team =>
  teamOf(`agent: {id: a, backend: {type: openai, model: ${model}}}`);
const [session, other, overridden] = ["gpt-5", "gpt-5-mini", "gpt-5-nano"].map(team) as [
  Team,
  Team,
  Team,
];
const modelOf = ({ agents }: Team): string => agents[0]?.backend.model ?? "";

const MISHAPS = {
  beforeCommit: () => {},
  afterCommit: () => {},
  durable: () => {},
  lagMs: () => 0,
};

let sql: Parameters<typeof loadTurnTeams>[0];
let teams: TurnTeams;
const NO_KEYS = { renew: () => null };

/** Loads the teams again, as after a restart. */
function load(keys: Parameters<typeof loadTurnTeams>[1] = NO_KEYS): TurnTeams {
  teams = loadTurnTeams(sql, keys);
  return teams;
}

/** Starts a turn, as the session does. */
function begin(turn: number, starting: Parameters<TurnTeams["begin"]>[1]): void {
  teams.begin(turn, starting);
  sql.exec("INSERT INTO turns (turn, parent, first_seq) VALUES (?, ?, ?)", turn, null, turn);
}

beforeEach(() => {
  const disk = new Disk({ mishaps: MISHAPS, schedule: () => {}, toWorld: (at) => at });
  sql = disk.state(
    () => {},
    () => {},
  ).storage.sql;
  createTables(sql);
  sql.exec("INSERT INTO meta (key, value) VALUES ('team', ?)", JSON.stringify(session));
  load();
  begin(1, { base: teams.base(null), overridden: null });
});

describe("the team of a turn", () => {
  it("is the session's if no request brought another", () => {
    expect([load().current(), teams.of(1)]).toEqual([session, session]);
  });

  it("is the one that its request brought, also after a restart", () => {
    begin(2, { base: teams.brought(other), overridden: null });
    expect([teams.current(), teams.of(2)]).toEqual([other, other]);
    expect([load().current(), teams.of(2), teams.of(1)]).toEqual([other, other, session]);
  });

  it("has its overrides until the next turn, and later turns do not", () => {
    begin(2, { base: teams.brought(other), overridden });
    expect([load().current(), teams.of(2)].map(modelOf)).toEqual(["gpt-5-nano", "gpt-5-mini"]);
    begin(3, { base: teams.base(2), overridden: null });
    expect(load().current()).toEqual(other);
    expect(JSON.stringify(sql.exec("SELECT * FROM turn_teams").toArray())).not.toContain("nano");
  });

  it("is that of its parent on each branch", () => {
    begin(2, { base: teams.brought(other), overridden: null });
    begin(3, { base: teams.base(1), overridden: null });
    begin(4, { base: teams.base(2), overridden: null });
    expect([3, 4].map((turn) => modelOf(load().of(turn)))).toEqual(["gpt-5", "gpt-5-mini"]);
  });

  it("is stored once, however often requests bring it", () => {
    begin(2, { base: teams.brought(other), overridden: null });
    load();
    begin(3, { base: teams.brought(structuredClone(other)), overridden: null });
    begin(4, { base: teams.brought(structuredClone(session)), overridden: null });
    expect(load().all()).toEqual([session, other]);
    expect(teams.of(4)).toBe(teams.session);
  });

  it("is stored once if two teams take turns", () => {
    const third = team("gpt-5-nano");
    for (const [index, one] of [other, third, other, third, other].entries())
      begin(index + 2, { base: load().brought(one), overridden: null });
    expect(load().all()).toEqual([session, other, third]);
    expect([5, 6].map((turn) => modelOf(teams.of(turn)))).toEqual(["gpt-5-nano", "gpt-5-mini"]);
  });

  it("replaces what a failed start has stored", () => {
    teams.begin(2, { base: teams.brought(other), overridden });
    expect(load().current()).toEqual(session);
    begin(2, { base: teams.base(1), overridden: null });
    expect([load().current(), teams.all()]).toEqual([session, [session]]);
  });
});

it("every stored team is sealed again when the session is loaded", () => {
  begin(2, { base: teams.brought(other), overridden });
  const renew = (one: Team): Team => ({ ...one, planningInstruction: "sealed again" });
  load({ renew });
  expect(
    [teams.session, teams.of(2), teams.current()].map((one) => one.planningInstruction),
  ).toEqual(["sealed again", "sealed again", "sealed again"]);
});
