import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/coordination";
import { unclosed } from "../clients/crowd";
import { toClientReport } from "../clients/report";
import { NOTHING_SEEN } from "../build/orders";
import { commandOf as killsCommand, type Figures } from "../kills/campaign";
import { commandOf } from "../kills/evidence";
import { parsePoint } from "../kills/points";
import { isSound, toReport } from "../kills/report";
import { commandOf as troubleCommand } from "../troubles/campaign";
import { TROUBLES } from "../troubles/list";
import { toTroubleReport } from "../troubles/report";
import { Effects } from "../troubles/effects";

const linesOf = (report: string): string[] => report.split("\n").map((line) => line.trim());

describe("what failed is shown with the command that plays it again", () => {
  it("a case of kills, at its moments and places", () => {
    const kills = [{ afterMs: 40 }, parsePoint("commit.open/vote.cast:2")];
    expect(commandOf({ seed: 5, kinds: ["story", "erased"], kills, isWanted: false })).toBe(
      "npm run faults -- --seed 5 --runs story,erased --at 40ms,commit.open/vote.cast:2",
    );
  });

  it("the books of a campaign of kills, with all that its plans are made from", () => {
    const options = { seed: 5, kills: 174, eachPlace: 1, pairs: 6, lanes: 2 };
    expect(killsCommand({ ...options, atRandom: 10 })).toBe(
      "npm run faults -- --seed 5 --kills 174 --at-random 10 --points 1 --pairs 6 --lanes 2",
    );
    expect(killsCommand(options)).toBe(
      "npm run faults -- --seed 5 --kills 174 --at-random 0 --points 1 --pairs 6 --lanes 2",
    );
  });

  it("one trouble with the seed of its round, and the books with all of them", () => {
    const failures = [
      {
        name: "2038",
        problems: ["I13: it is not over"],
        folder: "a",
        command: troubleCommand(8, "it is the year 2038"),
      },
      {
        name: "the tenant's books",
        problems: ["I12: $1 were charged"],
        folder: "b",
        command: troubleCommand(7),
      },
    ];
    const lines = linesOf(toTroubleReport({ seed: 7, rows: [], failures, seconds: 1 }));
    expect(lines).toContain("kept in a");
    expect(lines).toContain(
      'again: npm run faults -- --storage --seed 8 --only "it is the year 2038"',
    );
    expect(lines).toContain("again: npm run faults -- --storage --seed 7");
  });

  it("each trouble as a shell understands its name", () => {
    const names = TROUBLES.map(({ name }) => name);
    const words = names
      .map((name) => troubleCommand(7, name).replace("npm run faults --", "printf '%s\\n'"))
      .join("\n");
    const lines = execFileSync("sh", ["-c", words], { encoding: "utf8" }).trimEnd().split("\n");
    expect(lines).toEqual(names.flatMap((name) => ["--storage", "--seed", "7", "--only", name]));
  });

  it("one kind of client, histories by their number", () => {
    const scenes = [
      {
        name: "3 histories",
        problems: ["I1: event 4"],
        told: ["9 came back"],
        seconds: 1,
        folder: "c",
      },
    ];
    const figures = {
      seed: 7,
      histories: 3,
      loudAgents: LIMITS.agents,
      scenes,
      loud: null,
      seconds: 1,
    };
    const lines = linesOf(toClientReport(figures));
    expect(lines).toEqual(expect.arrayContaining(["kept in c", "9 came back"]));
    expect(lines).toContain('again: npm run faults -- --clients 3 --seed 7 --only "3 histories"');
    expect(toClientReport({ ...figures, loudAgents: 8 })).toContain("--seed 7 --agents 8 --only");
  });
});

const OF_KILLS: Figures = {
  seed: 1,
  kills: { random: 3, idle: 0, atPlaces: 0 },
  atPlace: {},
  places: { wanted: 0, reached: 0, missed: [] },
  pairs: { wanted: 0, tried: 0, reached: 0 },
  runs: {},
  healthyMs: [],
  recoveryMs: [],
  failures: [],
  endedEarly: null,
  seconds: 1,
};

describe("of the failures that were ordered, those count that nothing met", () => {
  const failures = (["fails", "lost"] as const).map((how) => ({
    seam: "d1" as const,
    match: "DELETE",
    times: 2,
    how,
  }));
  it.each([
    { name: "none, if each was met once at least", met: [2, 1], unmet: [] },
    {
      name: "each that was not, whatever the others met",
      met: [2, 0],
      unmet: ['d1 "DELETE" lost'],
    },
    { name: "all, if nobody can tell", met: [], unmet: ['d1 "DELETE" fails', 'd1 "DELETE" lost'] },
  ])("$name", ({ met, unmet }) => {
    const effects = new Effects();
    effects.see({ failures }, { ...NOTHING_SEEN, met });
    expect(effects.problems()).toEqual(
      unmet.map((what) => `nothing met the failure that was ordered: ${what}`),
    );
  });

  it.each([
    {
      name: "a clock that nobody looked at",
      orders: [{ skewMs: 5 }],
      seen: {},
      problems: ["nobody asked for the time while it was wrong"],
    },
    {
      name: "one that stood still, the same",
      orders: [{ isFrozen: true }],
      seen: {},
      problems: ["nobody asked for the time while it was wrong"],
    },
    {
      name: "alarms of which none was set",
      orders: [{ alarmLateMs: 5 }],
      seen: {},
      problems: ["no alarm was set that rings late"],
    },
    {
      name: "no clock that was looked at in one of its moments",
      orders: [{ skewMs: 5 }, { skewMs: 6 }],
      seen: { wrongTimes: 1 },
      problems: [],
    },
    {
      name: "no alarms of which one was set",
      orders: [{ alarmLateMs: 5 }],
      seen: { lateAlarms: 1 },
      problems: [],
    },
    { name: "nothing where nothing was ordered", orders: [{}], seen: {}, problems: [] },
  ])("$name", ({ orders, seen, problems }) => {
    const effects = new Effects();
    for (const [nth, one] of orders.entries())
      effects.see(one, { ...NOTHING_SEEN, ...(nth === 0 && seen) });
    expect(effects.problems()).toEqual(problems);
  });
});

it.each([
  { name: "met", recoveryMs: [500, 1_999, 5_000], said: "aim: a median under 2000 ms, met)" },
  { name: "missed", recoveryMs: [500, 2_000, 2_100], said: "aim: a median under 2000 ms, missed)" },
  { name: "not looked at", recoveryMs: [], said: "aim: a median under 2000 ms)" },
])("the report of kills says whether their aim was $name", ({ recoveryMs, said }) => {
  expect(toReport({ ...OF_KILLS, recoveryMs })).toContain(said);
});

it.each([
  {
    name: "kills at moments when nothing ran apart",
    figures: { kills: { random: 3, idle: 2, atPlaces: 4 } },
    said: [
      "Kills 7: 3 at random moments of runs, 4 at named places",
      "Not among them 2 at moments when no run was seen to be on",
    ],
  },
  {
    name: "pairs by how many were come to",
    figures: { pairs: { wanted: 6, tried: 8, reached: 6 } },
    said: ["Pairs of places 6 of 8 that were tried"],
  },
  {
    name: "pairs by how many were asked for, if fewer were come to",
    figures: { pairs: { wanted: 7, tried: 8, reached: 6 } },
    said: ["Pairs of places 6 of 8 that were tried, and 7 were asked for"],
  },
  {
    name: "nothing that was not played",
    figures: { endedEarly: "20 cases failed" },
    said: ["Ended early 20 cases failed"],
  },
])("the report of kills counts $name", ({ figures, said }) => {
  const lines = linesOf(toReport({ ...OF_KILLS, ...figures })).map((line) =>
    line.replaceAll(/\s+/g, " "),
  );
  for (const line of said) expect(lines).toContain(line);
});

describe("kills end well", () => {
  const failure = { problems: ["I13: it is not over"], folder: "a", command: "b" };
  it.each([
    { name: "if nothing went wrong", figures: {}, ends: true },
    {
      name: "if more pairs than asked for were come to",
      figures: { pairs: { wanted: 1, tried: 2, reached: 2 } },
      ends: true,
    },
    { name: "not if a promise was broken", figures: { failures: [failure] }, ends: false },
    {
      name: "not if a place was not come to",
      figures: { places: { wanted: 1, reached: 0, missed: ["send.sent:1"] } },
      ends: false,
    },
    {
      name: "not if a pair was not come to",
      figures: { pairs: { wanted: 2, tried: 6, reached: 1 } },
      ends: false,
    },
    { name: "not if they ended early", figures: { endedEarly: "20 cases failed" }, ends: false },
  ])("$name", ({ figures, ends }) => expect(isSound({ ...OF_KILLS, ...figures })).toBe(ends));
});

describe("slow readers of the largest session", () => {
  const [many, few] = [20 * 2 ** 20, 2 ** 20];
  it.each([
    {
      name: "must each be closed",
      agents: LIMITS.agents,
      logBytes: many,
      stayed: 1,
      wrong: "1 of 20 slow readers were never closed",
    },
    {
      name: "must have had to fall behind",
      agents: LIMITS.agents,
      logBytes: few,
      stayed: 0,
      wrong: "nobody had to fall behind",
    },
    {
      name: "must each be closed by a smaller team that writes as much",
      agents: 8,
      logBytes: many,
      stayed: 2,
      wrong: "2 of 20",
    },
    {
      name: "may all stay where a smaller team writes less",
      agents: 8,
      logBytes: few,
      stayed: 20,
      wrong: "",
    },
    {
      name: "are as they should where all were closed",
      agents: LIMITS.agents,
      logBytes: many,
      stayed: 0,
      wrong: "",
    },
  ])("$name", ({ wrong, ...met }) =>
    expect(unclosed(met).join()).toMatch(wrong === "" ? /^$/ : wrong),
  );
});
