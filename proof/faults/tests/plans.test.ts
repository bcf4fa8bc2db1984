import { describe, expect, it } from "vitest";
import { type Figures, noFigures, plansOf } from "../kills/campaign";
import { PLACES } from "../kills/points";

/** Number of cases of a campaign of kills, by the results of the cases. */

const NOTHING = { seed: 7, kills: 0, eachPlace: 0, pairs: 0, lanes: 1 };

function played(
  asked: Partial<typeof NOTHING & { atRandom: number }>,
  comes: (figures: Figures) => void,
): Figures & { cases: number } {
  const figures = noFigures(NOTHING.seed);
  let cases = 0;
  for (const _ of plansOf({ ...NOTHING, ...asked }, figures)) {
    cases += 1;
    comes(figures);
  }
  return { ...figures, cases };
}

const hits = ({ kills }: Figures): void => {
  kills.random += 1;
};
const fails = ({ failures }: Figures): void =>
  void failures.push({ problems: ["not finished"], folder: "", command: "" });
const meetsNothing = ({ kills }: Figures): void => {
  kills.idle += 1;
};
const isPaired = ({ pairs }: Figures): void => {
  pairs.reached += 1;
};

describe("a campaign of kills continues", () => {
  it.each([
    { name: "until enough runs were hit", asked: { kills: 30 }, comes: hits, cases: 30, why: null },
    {
      name: "until enough runs were hit at random moments",
      asked: { atRandom: 30 },
      comes: hits,
      cases: 30,
      why: null,
    },
    {
      name: "until each place was tried",
      asked: { eachPlace: 1 },
      comes: hits,
      cases: PLACES.length,
      why: null,
    },
    {
      name: "until 20 cases have failed",
      asked: { kills: 1_000 },
      comes: fails,
      cases: 20,
      why: "20 cases failed",
    },
    {
      name: "also at places, until 20 cases have failed",
      asked: { eachPlace: 1 },
      comes: fails,
      cases: 20,
      why: "20 cases failed",
    },
    {
      name: "until it is clear that no run is hit",
      asked: { kills: 10 },
      comes: meetsNothing,
      cases: 60,
      why: "60 cases reached 0 of 10 kills, 0 of 0 at random moments",
    },
    {
      name: "until it is clear that no run is hit at random moments",
      asked: { atRandom: 10 },
      comes: meetsNothing,
      cases: 60,
      why: "60 cases reached 0 of 0 kills, 0 of 10 at random moments",
    },
  ])("$name", ({ asked, comes, cases, why }) => {
    expect(played(asked, comes)).toMatchObject({ cases, endedEarly: why });
  });

  it("until so many pairs were reached, or six times as many were tried", () => {
    expect(played({ pairs: 3 }, meetsNothing)).toMatchObject({
      cases: 18,
      pairs: { wanted: 3, reached: 0 },
    });
    expect(played({ pairs: 3 }, isPaired)).toMatchObject({ cases: 3 });
  });
});
