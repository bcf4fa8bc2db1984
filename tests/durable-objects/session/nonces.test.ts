import { describe, expect, it } from "vitest";
import { noncesOf } from "../../../durable-objects/session/nonces";
import type { TurnState } from "../../../src/coordination";
import { evolve, emptySession } from "../../../src/coordination";
import { teamOf, TeamRun, says } from "../../agents/team-run";

const SECRET = "s3cret";

/** The state of a turn with this number and these models, by agent. */
function turnOf(number: number, models: Readonly<Record<string, string>>): TurnState {
  const team = teamOf(Object.keys(models));
  const agents = team.rules.agents.map((agent) => ({ ...agent, model: models[agent.id] ?? "" }));
  const { events } = new TeamRun({ team, script: () => says("Done.") }).ask("Why?");
  const start = events.findIndex(({ type }) => type === "turn.started");
  const { turn } = events.slice(0, start + 1).reduce(evolve, emptySession);
  if (!turn) throw new Error("no turn");
  return { ...turn, number, rules: { ...turn.rules, agents } };
}

const TEAM = { a: "large", b: "small" };

describe("the nonces of a session", () => {
  const nonce = noncesOf(SECRET, 0);

  it("have letters a–f and digits only", () => {
    expect(nonce(turnOf(1, TEAM), 0)).toMatch(/^[a-f0-9]{16}$/);
  });

  it.each([
    { name: "in a later turn", turn: turnOf(7, TEAM), agent: 0, same: true },
    {
      name: "in a turn without the other agents",
      turn: turnOf(2, { a: "large" }),
      agent: 0,
      same: true,
    },
    {
      name: "at another place in the team",
      turn: turnOf(2, { b: "small", a: "large" }),
      agent: 1,
      same: true,
    },
    { name: "of another agent", turn: turnOf(1, TEAM), agent: 1, same: false },
    { name: "with another model", turn: turnOf(2, { ...TEAM, a: "tiny" }), agent: 0, same: false },
  ])("stay the same for an agent $name: $same", ({ turn, agent, same }) => {
    expect(nonce(turn, agent) === nonce(turnOf(1, TEAM), 0)).toBe(same);
  });

  it("are the same after a restart, and differ between sessions", () => {
    const turn = turnOf(3, TEAM);
    expect(noncesOf(SECRET, 0)(turn, 0)).toBe(nonce(turn, 0));
    expect(noncesOf("other", 0)(turn, 0)).not.toBe(nonce(turn, 0));
  });

  it("change with each attempt in the turns of an earlier version", () => {
    const changing = noncesOf(SECRET, 2);
    const [second, third] = [turnOf(2, TEAM), turnOf(3, TEAM)];
    const again = { ...second, attempt: { ...second.attempt, number: 2 } };
    expect(changing(again, 0)).not.toBe(changing(second, 0));
    expect(changing(second, 0)).not.toBe(nonce(second, 0));
    expect(changing(third, 0)).toBe(nonce(third, 0));
  });
});
