import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/coordination";
import { slowReaderProblems } from "../clients/crowd";
import { toClientReport } from "../clients/report";
import { NO_OBSERVATIONS } from "../build/orders";
import { commandOf as killsCommand, type Figures } from "../kills/campaign";
import { commandOf } from "../kills/evidence";
import { parsePoint } from "../kills/points";
import { isSound, toReport } from "../kills/report";
import { commandOf as storageFaultCommand } from "../storage-faults/campaign";
import { STORAGE_FAULTS } from "../storage-faults/list";
import { toStorageFaultReport } from "../storage-faults/report";
import { Effects } from "../storage-faults/effects";

const linesOf = (report: string): string[] => report.split("\n").map((line) => line.trim());

describe("failures are printed with the command that repeats them", () => {
  it("for a case of kills: with the times and places of the kills", () => {
    const kills = [{ afterMs: 40 }, parsePoint("commit.open/vote.cast:2")];
    expect(commandOf({ seed: 5, kinds: ["story", "erased"], kills, isWanted: false })).toBe(
      "npm run faults -- --seed 5 --runs story,erased --at 40ms,commit.open/vote.cast:2",
    );
  });

  it("for the ledger of a campaign of kills: with all options of its plans", () => {
    const options = { seed: 5, kills: 174, eachPlace: 1, pairs: 6, lanes: 2 };
    expect(killsCommand({ ...options, atRandom: 10 })).toBe(
      "npm run faults -- --seed 5 --kills 174 --at-random 10 --points 1 --pairs 6 --lanes 2",
    );
    expect(killsCommand(options)).toBe(
      "npm run faults -- --seed 5 --kills 174 --at-random 0 --points 1 --pairs 6 --lanes 2",
    );
  });

  it("for one storage fault: with its round's seed, and for the ledger: with all faults", () => {
    const failures = [
      {
        name: "2038",
        problems: ["I13: not finished"],
        folder: "a",
        command: storageFaultCommand(8, "it is the year 2038"),
      },
      {
        name: "the tenant's ledger",
        problems: ["I12: $1 were charged"],
        folder: "b",
        command: storageFaultCommand(7),
      },
    ];
    const lines = linesOf(toStorageFaultReport({ seed: 7, rows: [], failures, seconds: 1 }));
    expect(lines).toContain("kept in a");
    expect(lines).toContain(
      'again: npm run faults -- --storage --seed 8 --only "it is the year 2038"',
    );
    expect(lines).toContain("again: npm run faults -- --storage --seed 7");
  });

  it("for each storage fault: with its name quoted for the shell", () => {
    const names = STORAGE_FAULTS.map(({ name }) => name);
    const words = names
      .map((name) => storageFaultCommand(7, name).replace("npm run faults --", "printf '%s\\n'"))
      .join("\n");
    const lines = execFileSync("sh", ["-c", words], { encoding: "utf8" }).trimEnd().split("\n");
    expect(lines).toEqual(names.flatMap((name) => ["--storage", "--seed", "7", "--only", name]));
  });

  it("for one kind of client: with the number of histories", () => {
    const scenes = [
      {
        name: "3 histories",
        problems: ["I1: event 4"],
        notes: ["9 came back"],
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

describe("the effects of orders report", () => {
  const failures = (["fails", "lost"] as const).map((how) => ({
    seam: "d1" as const,
    match: "DELETE",
    times: 2,
    how,
  }));
  it.each([
    { name: "no failure if each failure was met at least once", met: [2, 1], unmet: [] },
    {
      name: "each unmet failure, independently of the others",
      met: [2, 0],
      unmet: ['d1 "DELETE" lost'],
    },
    {
      name: "all failures if the counts are missing",
      met: [],
      unmet: ['d1 "DELETE" fails', 'd1 "DELETE" lost'],
    },
  ])("$name", ({ met, unmet }) => {
    const effects = new Effects();
    effects.record({ failures }, { ...NO_OBSERVATIONS, met });
    expect(effects.problems()).toEqual(
      unmet.map((what) => `nothing met the ordered failure: ${what}`),
    );
  });

  it.each([
    {
      name: "a wrong clock that was never read",
      orders: [{ skewMs: 5 }],
      seen: {},
      problems: ["the time was not read while it was wrong"],
    },
    {
      name: "a stopped clock that was never read",
      orders: [{ isFrozen: true }],
      seen: {},
      problems: ["the time was not read while it was wrong"],
    },
    {
      name: "late alarms of which none was set",
      orders: [{ alarmLateMs: 5 }],
      seen: {},
      problems: ["no late alarm was set"],
    },
    {
      name: "no problem if a wrong clock was read once",
      orders: [{ skewMs: 5 }, { skewMs: 6 }],
      seen: { wrongTimes: 1 },
      problems: [],
    },
    {
      name: "no problem if one late alarm was set",
      orders: [{ alarmLateMs: 5 }],
      seen: { lateAlarms: 1 },
      problems: [],
    },
    { name: "no problem without orders", orders: [{}], seen: {}, problems: [] },
  ])("$name", ({ orders, seen, problems }) => {
    const effects = new Effects();
    for (const [nth, one] of orders.entries())
      effects.record(one, { ...NO_OBSERVATIONS, ...(nth === 0 && seen) });
    expect(effects.problems()).toEqual(problems);
  });
});

it.each([
  { name: "met", recoveryMs: [500, 1_999, 5_000], expected: "aim: a median under 2000 ms, met)" },
  {
    name: "missed",
    recoveryMs: [500, 2_000, 2_100],
    expected: "aim: a median under 2000 ms, missed)",
  },
  { name: "not measured", recoveryMs: [], expected: "aim: a median under 2000 ms)" },
])("the report of kills says whether their aim was $name", ({ recoveryMs, expected }) => {
  expect(toReport({ ...OF_KILLS, recoveryMs })).toContain(expected);
});

it.each([
  {
    name: "kills without an active run separately",
    figures: { kills: { random: 3, idle: 2, atPlaces: 4 } },
    expected: [
      "Kills 7: 3 at random moments of runs, 4 at named places",
      "Not counted 2 at moments without an active run",
    ],
  },
  {
    name: "reached pairs",
    figures: { pairs: { wanted: 6, tried: 8, reached: 6 } },
    expected: ["Pairs of places 6 of 8 tried"],
  },
  {
    name: "requested pairs, if fewer were reached",
    figures: { pairs: { wanted: 7, tried: 8, reached: 6 } },
    expected: ["Pairs of places 6 of 8 tried, 7 requested"],
  },
  {
    name: "only played cases",
    figures: { endedEarly: "20 cases failed" },
    expected: ["Ended early 20 cases failed"],
  },
])("the report of kills counts $name", ({ figures, expected }) => {
  const lines = linesOf(toReport({ ...OF_KILLS, ...figures })).map((line) =>
    line.replaceAll(/\s+/g, " "),
  );
  for (const line of expected) expect(lines).toContain(line);
});

describe("a campaign of kills is sound", () => {
  const failure = { problems: ["I13: not finished"], folder: "a", command: "b" };
  it.each([
    { name: "if no case had a problem", figures: {}, isExpectedSound: true },
    {
      name: "if more pairs than requested were reached",
      figures: { pairs: { wanted: 1, tried: 2, reached: 2 } },
      isExpectedSound: true,
    },
    {
      name: "not if a promise was broken",
      figures: { failures: [failure] },
      isExpectedSound: false,
    },
    {
      name: "not if a place was not reached",
      figures: { places: { wanted: 1, reached: 0, missed: ["send.sent:1"] } },
      isExpectedSound: false,
    },
    {
      name: "not if a pair was not reached",
      figures: { pairs: { wanted: 2, tried: 6, reached: 1 } },
      isExpectedSound: false,
    },
    {
      name: "not if it ended early",
      figures: { endedEarly: "20 cases failed" },
      isExpectedSound: false,
    },
  ])("$name", ({ figures, isExpectedSound }) =>
    expect(isSound({ ...OF_KILLS, ...figures })).toBe(isExpectedSound),
  );
});

describe("slow readers of the largest session", () => {
  const [many, few] = [20 * 2 ** 20, 2 ** 20];
  it.each([
    {
      name: "must each be disconnected",
      agents: LIMITS.agents,
      logBytes: many,
      neverDisconnected: 1,
      wrong: "1 of 20 slow readers were never disconnected",
    },
    {
      name: "must fall behind",
      agents: LIMITS.agents,
      logBytes: few,
      neverDisconnected: 0,
      wrong: "no reader had to fall behind",
    },
    {
      name: "must each be disconnected if a smaller team writes as much",
      agents: 8,
      logBytes: many,
      neverDisconnected: 2,
      wrong: "2 of 20",
    },
    {
      name: "may all stay connected if a smaller team writes less",
      agents: 8,
      logBytes: few,
      neverDisconnected: 20,
      wrong: "",
    },
    {
      name: "cause no problem if all were disconnected",
      agents: LIMITS.agents,
      logBytes: many,
      neverDisconnected: 0,
      wrong: "",
    },
  ])("$name", ({ wrong, ...met }) =>
    expect(slowReaderProblems(met).join()).toMatch(wrong === "" ? /^$/ : wrong),
  );
});
