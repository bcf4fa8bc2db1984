import { describe, expect, it } from "vitest";
import { type Figures, noFigures, plansOf } from "../kills/campaign";
import { PLACES } from "../kills/points";

/** Checks how many cases a campaign of kills plays, for different outcomes of its cases. */

const NO_KILLS = { seed: 7, kills: 0, eachPlace: 0, pairs: 0, lanes: 1 };

function campaignOf(
  options: Partial<typeof NO_KILLS & { atRandom: number }>,
  outcome: (figures: Figures) => void,
): Figures & { cases: number } {
  const figures = noFigures(NO_KILLS.seed);
  let cases = 0;
  for (const _ of plansOf({ ...NO_KILLS, ...options }, figures)) {
    cases += 1;
    outcome(figures);
  }
  return { ...figures, cases };
}

const killsActiveRun = ({ kills }: Figures): void => {
  kills.random += 1;
};
const failsCase = ({ failures }: Figures): void =>
  void failures.push({ problems: ["not finished"], folder: "", command: "" });
const killsIdleService = ({ kills }: Figures): void => {
  kills.idle += 1;
};
const reachesPair = ({ pairs }: Figures): void => {
  pairs.reached += 1;
};

describe("a campaign of kills continues", () => {
  it.each([
    {
      name: "until enough kills met an active run",
      options: { kills: 30 },
      outcome: killsActiveRun,
      cases: 30,
      why: null,
    },
    {
      name: "until enough kills at random moments met an active run",
      options: { atRandom: 30 },
      outcome: killsActiveRun,
      cases: 30,
      why: null,
    },
    {
      name: "until each place was tried",
      options: { eachPlace: 1 },
      outcome: killsActiveRun,
      cases: PLACES.length,
      why: null,
    },
    {
      name: "until 20 cases have failed",
      options: { kills: 1_000 },
      outcome: failsCase,
      cases: 20,
      why: "20 cases failed",
    },
    {
      name: "also at places, until 20 cases have failed",
      options: { eachPlace: 1 },
      outcome: failsCase,
      cases: 20,
      why: "20 cases failed",
    },
    {
      name: "until it is clear that no kill meets an active run",
      options: { kills: 10 },
      outcome: killsIdleService,
      cases: 60,
      why: "60 cases reached 0 of 10 kills, 0 of 0 at random moments",
    },
    {
      name: "until it is clear that no kill at a random moment meets an active run",
      options: { atRandom: 10 },
      outcome: killsIdleService,
      cases: 60,
      why: "60 cases reached 0 of 0 kills, 0 of 10 at random moments",
    },
  ])("$name", ({ options, outcome, cases, why }) => {
    expect(campaignOf(options, outcome)).toMatchObject({ cases, endedEarly: why });
  });

  it("until the wanted pairs were reached, or six times as many pairs were tried", () => {
    expect(campaignOf({ pairs: 3 }, killsIdleService)).toMatchObject({
      cases: 18,
      pairs: { wanted: 3, reached: 0 },
    });
    expect(campaignOf({ pairs: 3 }, reachesPair)).toMatchObject({ cases: 3 });
  });
});
