import { describe, expect, it } from "vitest";
import { voteWords } from "../../../src/describe/votes";
import { voteResult } from "../../../src/protocol/view/vote-result";
import { turnOf } from "../../../src/protocol/view";
import * as b from "../builders";

type Ending = "consensus" | "deadline" | "budget";
/** A team in which `votes` names, by voter, the answer voted for. */
function settledBy(
  ids: readonly string[],
  votes: Record<string, string>,
  endedBy: Ending = "consensus",
) {
  const answers = ids.map((id, index) => b.answered(id, `agent${index + 1}.1`, index + 1));
  const cast = Object.entries(votes).map(([voter, label]) => b.voted(voter, label));
  const tally: Record<string, number> = {};
  for (const label of Object.values(votes)) tally[label] = (tally[label] ?? 0) + 1;
  const best = Object.entries(tally).sort((one, other) => other[1] - one[1])[0]?.[0] ?? "agent1.1";
  const winner = ids[Number(/\d+/.exec(best)?.[0]) - 1] ?? "";
  const story = [b.created(...ids), b.turnStarted(...ids), b.attemptStarted(), ...answers, ...cast];
  const turn = turnOf(b.view(b.log([...story, b.settled(winner, best, endedBy, tally)])));
  const attempt = turn?.attempts.at(-1);
  const result = attempt ? voteResult(attempt, ids.length) : null;
  if (!result) throw new Error("no result");
  return { result, words: voteWords(result, { winner, endedBy, tie: false }) };
}
const TWELVE = Array.from({ length: 12 }, (_, index) => `a${index + 1}`);
/** 4, 2 and six times 1. */
const SPLIT = ["agent2.1", "agent2.1", "agent2.1", "agent2.1", "agent3.1", "agent3.1"].concat(
  [4, 5, 6, 7, 8, 9].map((number) => `agent${number}.1`),
);

describe("the count of votes (A6)", () => {
  it("has the number of votes and voters if agents disagree", () => {
    const { result, words } = settledBy(
      TWELVE,
      Object.fromEntries(TWELVE.map((id, index) => [id, SPLIT[index] ?? ""])),
    );
    expect([words, result]).toEqual([
      "4 of 12 votes",
      { votes: 4, of: 12, voters: TWELVE, unanimous: false },
    ]);
  });
  it.each([
    {
      name: "is unanimous if every agent voted for one answer",
      votes: { a: "agent1.1", b: "agent1.1" },
      words: "2 of 2 votes, unanimous",
    },
    {
      name: "is not, if an agent voted otherwise",
      votes: { a: "agent1.1", b: "agent2.1" },
      words: "1 of 2 votes",
    },
  ])("$name", ({ votes, words }) => {
    expect(settledBy(["a", "b"], votes).words).toBe(words);
  });
  it("is not unanimous if an agent of the team did not vote", () => {
    expect(settledBy(["a", "b", "c"], { a: "agent1.1", b: "agent1.1" }).words).toBe("2 of 2 votes");
  });
  it("of a single remaining agent is not a team's vote", () => {
    const { result, words } = settledBy(["a", "b"], { a: "agent1.1" });
    expect([words, result.unanimous]).toEqual(["no other agent voted", false]);
  });
  it.each<{ endedBy: Ending; words: string }>([
    { endedBy: "deadline", words: "1 of 2 votes, when time ran out" },
    { endedBy: "budget", words: "1 of 2 votes, when the budget ran out" },
  ])("says why voting was cut short: $words", ({ endedBy, words }) => {
    expect(settledBy(["a", "b", "c"], { a: "agent1.1", b: "agent2.1" }, endedBy).words).toBe(words);
  });
  it("is never unanimous before all have voted", () => {
    expect(
      settledBy(["a", "b"], { a: "agent1.1", b: "agent1.1" }, "deadline").result.unanimous,
    ).toBe(false);
  });
  it("says that no agent voted", () => {
    expect(settledBy(["a", "b"], {}, "deadline").words).toBe("no votes, when time ran out");
  });
});
