import { describe, expect, it } from "vitest";
import { type Figures, noFigures, plansOf } from "../kills/campaign";
import { PLACES } from "../kills/points";

/** Number of cases of a campaign of kills, by the results of the cases. */

const NOTHING = { seed: 7, kills: 0, eachPlace: 0, pairs: 0, lanes: 1 };

function campaignOf(
  options: Partial<typeof NOTHING & { atRandom: number }>,
  happens: (figures: Figures) => void,
): Figures & { cases: number } {
  const figures = noFigures(NOTHING.seed);
  let cases = 0;
  for (const _ of plansOf({ ...NOTHING, ...options }, figures)) {
    cases += 1;
    happens(figures);
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
    {
      name: "until enough runs were hit",
      options: { kills: 30 },
      happens: hits,
      cases: 30,
      why: null,
    },
    {
      name: "until enough runs were hit at random moments",
      options: { atRandom: 30 },
      happens: hits,
      cases: 30,
      why: null,
    },
    {
      name: "until each place was tried",
      options: { eachPlace: 1 },
      happens: hits,
      cases: PLACES.length,
      why: null,
    },
    {
      name: "until 20 cases have failed",
      options: { kills: 1_000 },
      happens: fails,
      cases: 20,
      why: "20 cases failed",
    },
    {
      name: "also at places, until 20 cases have failed",
      options: { eachPlace: 1 },
      happens: fails,
      cases: 20,
      why: "20 cases failed",
    },
    {
      name: "until it is clear that no run is hit",
      options: { kills: 10 },
      happens: meetsNothing,
      cases: 60,
      why: "60 cases reached 0 of 10 kills, 0 of 0 at random moments",
    },
    {
      name: "until it is clear that no run is hit at random moments",
      options: { atRandom: 10 },
      happens: meetsNothing,
      cases: 60,
      why: "60 cases reached 0 of 0 kills, 0 of 10 at random moments",
    },
  ])("$name", ({ options, happens, cases, why }) => {
    expect(campaignOf(options, happens)).toMatchObject({ cases, endedEarly: why });
  });

  it("until so many pairs were reached, or six times as many were tried", () => {
    expect(campaignOf({ pairs: 3 }, meetsNothing)).toMatchObject({
      cases: 18,
      pairs: { wanted: 3, reached: 0 },
    });
    expect(campaignOf({ pairs: 3 }, isPaired)).toMatchObject({ cases: 3 });
  });
});
