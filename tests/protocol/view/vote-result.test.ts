import { describe, expect, it } from "vitest";
import { voteWords } from "../../../src/describe/votes";
import { voteResult } from "../../../src/protocol/view/vote-result";
import { turnOf } from "../../../src/protocol/view";
import * as b from "../builders";

type Ending = "consensus" | "deadline" | "budget";
/** Settles an attempt of a team. `votes`: label of the answer that each voter chose. */
function settledBy(
  ids: readonly string[],
  votes: Record<string, string>,
  endedBy: Ending = "consensus",
) {
  const answers = ids.map((id, index) => b.answered(id, `agent${index + 1}.1`, index + 1));
  const cast = Object.entries(votes).map(([voter, label]) => b.voted(voter, label));
  const tally: Record<string, number> = {};
  for (const label of Object.values(votes)) tally[label] = (tally[label] ?? 0) + 1;
  const byVotes = Object.entries(tally).sort((one, other) => other[1] - one[1]);
  const best = byVotes[0]?.[0] ?? "agent1.1";
  const winner = ids[Number(/\d+/.exec(best)?.[0]) - 1] ?? "";
  const story = [b.created(...ids), b.turnStarted(...ids), b.attemptStarted(), ...answers, ...cast];
  const turn = turnOf(b.view(b.log([...story, b.settled(winner, best, endedBy, tally)])));
  const attempt = turn?.attempts.at(-1);
  const result = attempt ? voteResult(attempt, ids.length) : null;
  if (!result) throw new Error("no result");
  return { result, words: voteWords(result, { winner, endedBy, tie: false }) };
}
const TWELVE_IDS = Array.from({ length: 12 }, (_, index) => `a${index + 1}`);
/** Votes of the twelve agents: 4 and 2 for two answers, and 1 for each of six answers. */
const SPLIT_VOTES = ["agent2.1", "agent2.1", "agent2.1", "agent2.1", "agent3.1", "agent3.1"].concat(
  [4, 5, 6, 7, 8, 9].map((number) => `agent${number}.1`),
);

describe("the result of a vote (A6)", () => {
  it("has the number of votes and voters if agents disagree", () => {
    const { result, words } = settledBy(
      TWELVE_IDS,
      Object.fromEntries(TWELVE_IDS.map((id, index) => [id, SPLIT_VOTES[index] ?? ""])),
    );
    expect([words, result]).toEqual([
      "4 of 12 votes",
      { votes: 4, of: 12, voters: TWELVE_IDS, unanimous: false },
    ]);
  });
  it.each([
    {
      name: "is unanimous if every agent voted for one answer",
      votes: { a: "agent1.1", b: "agent1.1" },
      words: "2 of 2 votes, unanimous",
    },
    {
      name: "is not unanimous if an agent voted for another answer",
      votes: { a: "agent1.1", b: "agent2.1" },
      words: "1 of 2 votes",
    },
  ])("$name", ({ votes, words }) => {
    expect(settledBy(["a", "b"], votes).words).toBe(words);
  });
  it("is not unanimous if an agent of the team did not vote", () => {
    expect(settledBy(["a", "b", "c"], { a: "agent1.1", b: "agent1.1" }).words).toBe("2 of 2 votes");
  });
  it("is not a team's decision if only one agent voted", () => {
    const { result, words } = settledBy(["a", "b"], { a: "agent1.1" });
    expect([words, result.unanimous]).toEqual(["no other agent voted", false]);
  });
  it.each<{ endedBy: Ending; words: string }>([
    { endedBy: "deadline", words: "1 of 2 votes, when time ran out" },
    { endedBy: "budget", words: "1 of 2 votes, when the budget ran out" },
  ])("has the reason for an early end: $words", ({ endedBy, words }) => {
    expect(settledBy(["a", "b", "c"], { a: "agent1.1", b: "agent2.1" }, endedBy).words).toBe(words);
  });
  it("is not unanimous if coordination ended before consensus", () => {
    expect(
      settledBy(["a", "b"], { a: "agent1.1", b: "agent1.1" }, "deadline").result.unanimous,
    ).toBe(false);
  });
  it("can have no votes", () => {
    expect(settledBy(["a", "b"], {}, "deadline").words).toBe("no votes, when time ran out");
  });
});
