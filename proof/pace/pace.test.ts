import { describe, expect, it } from "vitest";
import { check } from "../../checker";
import { compare } from "./comparison";
import { playPaced } from "./paced-team";
import { equalTeam, paced, unevenTeams } from "./shapes";

const SEEDS = 3;
const idealCalls = (size: number): number => 2 * size + 1;

describe("a large team of equal agents", () => {
  const cases = [16, 32].flatMap((size) =>
    [45, 400, 4_000, 60_000].flatMap((callMs) =>
      [0, 0.05, 0.1].map((jitter) => ({ size, callMs, jitter })),
    ),
  );
  it.each(cases)(
    "of $size, with calls of $callMs ms that differ by $jitter, needs at most 10 % more calls than 2N + 1",
    ({ size, callMs, jitter }) => {
      const { paced: side, relative } = compare([paced(equalTeam(size), callMs, jitter)], SEEDS);
      expect(side.calls).toBeLessThanOrEqual(1.1 * idealCalls(size));
      expect(relative).toBeLessThanOrEqual(1);
    },
  );
});

describe("an uneven team", () => {
  const cases = [8, 16].flatMap((size) => unevenTeams(size).map((shape) => ({ size, ...shape })));
  it.each(cases)("of $size takes no more than 5 % longer: $name", ({ members }) => {
    const teams = [400, 4_000].map((callMs) => paced(members, callMs, 0.1));
    expect(compare(teams, SEEDS).relative).toBeLessThanOrEqual(1.05);
  });
});

describe("a team of up to seven agents", () => {
  const cases = [3, 5, 7].flatMap((size) => unevenTeams(size).map((shape) => ({ size, ...shape })));
  it.each(cases)("of $size works as without the rule: $name", ({ members }) => {
    const team = paced(members, 4_000, 0.2);
    const [fixed, withPace] = [{}, { paced_grace_agents: 8 }].map((rules) =>
      playPaced(team, 1, rules).log.slice(1),
    );
    expect(withPace).toEqual(fixed);
  });
});

it("the checker finds nothing wrong with large teams", () => {
  for (const { members } of unevenTeams(16)) {
    const { log } = playPaced(paced(members, 4_000, 0.2), 1, { paced_grace_agents: 8 });
    expect(check(log, { finished: true })).toEqual([]);
  }
});
