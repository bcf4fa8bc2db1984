import { describe, expect, it } from "vitest";
import { citationsOf, type TurnView, turnOf } from "../../../src/protocol/view";
import * as b from "../builders";

/** The view of a turn of anna and ben after the events of `bodies`. */
function turnAfter(...bodies: b.Body[]): TurnView {
  const base = [b.created("anna", "ben"), b.turnStarted("anna", "ben"), b.attemptStarted()];
  const turn = turnOf(b.view(b.log([...base, ...bodies])));
  if (!turn) throw new Error("no turn");
  return turn;
}
const usesOf = (turn: TurnView, index: number) => turn.agents[index]?.hostedUses;

describe("the sources of a final text", () => {
  const presenting = (...after: b.Body[]) => [
    b.answered("anna", "agent1.1", 1),
    b.settled("anna", "agent1.1"),
    b.presenting("anna", "agent1.1"),
    b.callStarted("anna", "p1", 3, "presentation"),
    ...after,
  ];
  const endOfTurn = [b.presented("anna", "Use quicksort."), b.completed("anna", "Use quicksort.")];
  const fallback = b.presented("anna", "answer", { source: "answer", fallback: "length" });
  const manyUrls = Array.from({ length: 150 }, (_, index) => `https://${index}.example/`);

  it.each<{ name: string; after: b.Body[]; want: string[] }>([
    {
      name: "are the sources of the presentation",
      after: [...presenting(b.cited("anna", "p1", "A", "B")), ...endOfTurn],
      want: ["A", "B"],
    },
    {
      name: "are the sources of all calls of the presentation, each source once",
      after: [
        ...presenting(b.cited("anna", "p1", "A", "B"), b.callCompleted("anna", "p1", 3)),
        b.callStarted("anna", "p2", 3, "presentation"),
        b.cited("anna", "p2", "B", "C", "C"),
        ...endOfTurn,
      ],
      want: ["A", "B", "C"],
    },
    {
      name: "do not include sources of coordination",
      after: [
        b.callStarted("anna", "c1"),
        b.cited("anna", "c1", "A"),
        ...presenting(),
        ...endOfTurn,
      ],
      want: [],
    },
    {
      name: "do not include sources of the judgement",
      after: [
        ...presenting(b.presented("anna", "x")),
        b.callStarted("anna", "j1", 4, "judgement"),
        b.cited("anna", "j1", "A"),
        ...endOfTurn,
      ],
      want: [],
    },
    {
      name: "are empty if an answer replaces the presentation",
      after: [...presenting(b.cited("anna", "p1", "A")), fallback, b.completed("anna", "answer")],
      want: [],
    },
    {
      name: "are empty while the final text is not complete",
      after: presenting(b.cited("anna", "p1", "A")),
      want: [],
    },
    {
      name: "are at most a hundred",
      after: [...presenting(b.cited("anna", "p1", ...manyUrls)), ...endOfTurn],
      want: manyUrls.slice(0, 100),
    },
  ])("$name", ({ after, want }) => {
    expect(citationsOf(turnAfter(...after)).map(({ url }) => url)).toEqual(want);
  });

  it("are the sources of the attempt that has the final text", () => {
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

  it("are not shared between two views", () => {
    expect(usesOf(turnAfter(b.hostedUse("ben", "c1")), 1)).toEqual({ web_search: 1 });
    expect(usesOf(turnAfter(), 1)).toEqual({});
  });
});
