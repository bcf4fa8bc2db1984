import { describe, expect, it } from "vitest";
import { citationsOf, type TurnView, turnOf } from "../../../src/protocol/view";
import * as b from "../builders";

/** The turn after `bodies`, which follow the start of a turn of anna and ben. */
function turnAfter(...bodies: b.Body[]): TurnView {
  const base = [b.created("anna", "ben"), b.turnStarted("anna", "ben"), b.attemptStarted()];
  const turn = turnOf(b.view(b.log([...base, ...bodies])));
  if (!turn) throw new Error("no turn");
  return turn;
}
const usesOf = (turn: TurnView, agent: number) => turn.agents[agent]?.hostedUses;

describe("the sources of a final text", () => {
  const presenting = (...after: b.Body[]) => [
    b.answered("anna", "agent1.1", 1),
    b.settled("anna", "agent1.1"),
    b.presenting("anna", "agent1.1"),
    b.callStarted("anna", "p1", 3, "presentation"),
    ...after,
  ];
  const finished = [b.presented("anna", "Use quicksort."), b.completed("anna", "Use quicksort.")];
  const fallen = b.presented("anna", "answer", { source: "answer", fallback: "length" });
  const many = Array.from({ length: 150 }, (_, nth) => `https://${nth}.example/`);

  it.each<{ name: string; after: b.Body[]; want: string[] }>([
    {
      name: "are those of the presentation",
      after: [...presenting(b.cited("anna", "p1", "A", "B")), ...finished],
      want: ["A", "B"],
    },
    {
      name: "are those of all its calls, each once",
      after: [
        ...presenting(b.cited("anna", "p1", "A", "B"), b.callCompleted("anna", "p1", 3)),
        b.callStarted("anna", "p2", 3, "presentation"),
        b.cited("anna", "p2", "B", "C", "C"),
        ...finished,
      ],
      want: ["A", "B", "C"],
    },
    {
      name: "are not those of coordination",
      after: [
        b.callStarted("anna", "c1"),
        b.cited("anna", "c1", "A"),
        ...presenting(),
        ...finished,
      ],
      want: [],
    },
    {
      name: "are not those of its judgement",
      after: [
        ...presenting(b.presented("anna", "x")),
        b.callStarted("anna", "j1", 4, "judgement"),
        b.cited("anna", "j1", "A"),
        ...finished,
      ],
      want: [],
    },
    {
      name: "are none if an answer replaces the presentation",
      after: [...presenting(b.cited("anna", "p1", "A")), fallen, b.completed("anna", "answer")],
      want: [],
    },
    {
      name: "are none while it is being written",
      after: presenting(b.cited("anna", "p1", "A")),
      want: [],
    },
    {
      name: "are at most a hundred",
      after: [...presenting(b.cited("anna", "p1", ...many)), ...finished],
      want: many.slice(0, 100),
    },
  ])("$name", ({ after, want }) => {
    expect(citationsOf(turnAfter(...after)).map(({ url }) => url)).toEqual(want);
  });

  it("are those of the attempt with the final text", () => {
    const restarted: b.Body = {
      type: "attempt.restarted",
      attempt: 1,
      agent: "anna",
      reason: "thin",
      instructions: "more",
    };
    const first = [...presenting(b.cited("anna", "p1", "A")), b.presented("anna", "x"), restarted];
    const turn = turnAfter(...first, b.attemptStarted(2), b.completed("anna", "x"));
    expect(citationsOf(turn).map(({ url }) => url)).toEqual(["A"]);
  });
});

describe("uses of hosted tools", () => {
  it("are counted by tool, over all attempts of the turn", () => {
    const turn = turnAfter(
      b.hostedUse("anna", "c1"),
      b.hostedUse("anna", "c1", { name: "code_execution" }),
      b.attemptStarted(2),
      b.hostedUse("anna", "c2"),
    );
    expect([usesOf(turn, 0), usesOf(turn, 1)]).toEqual([{ web_search: 2, code_execution: 1 }, {}]);
  });

  it("belong to one view only", () => {
    expect(usesOf(turnAfter(b.hostedUse("ben", "c1")), 1)).toEqual({ web_search: 1 });
    expect(usesOf(turnAfter(), 1)).toEqual({});
  });
});
