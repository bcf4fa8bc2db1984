import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Campaign, nameOf } from "./campaigns";
import { appendResult, type CampaignResult, readResults, writeResults } from "./campaign-results";
import { playAll } from "./play";
import { readCounts } from "./report";

const campaign = (name: string): Campaign => ({
  file: `tests/${name}.proof.test.ts`,
  about: name,
  counts: [],
});
const WANTED = ["one", "two", "three"].map(campaign);
const COMMIT = { id: "abc", changed: false, words: "abc", rotation: 7 };
const finished = (name: string, failed = 0): CampaignResult => ({
  campaign: name,
  counts: "everything",
  passed: 3,
  failed,
  seconds: 2,
  at: "2026-11-24T10:00:00.000Z",
});

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "massgen-proof-"));
});
afterEach(() => rm(folder, { recursive: true }));

/**
 * Plays the campaigns and stores their results on disk. `interruptedAt`: the campaign during which
 * the process ends.
 */
async function run({ interruptedAt, fails }: { interruptedAt?: string; fails?: string } = {}) {
  const ledger = path.join(folder, "nightly-abc.json");
  const played: string[] = [];
  const printed: string[] = [];
  const results = await playAll(WANTED, await readResults(ledger), {
    play: async (one) => {
      const name = nameOf(one);
      if (name === interruptedAt) throw new Error("interrupted");
      played.push(name);
      return finished(name, name === fails ? 1 : 0);
    },
    store: (done) => writeResults(ledger, done),
    onPlayed: (result) => appendResult(result, "nightly", COMMIT, folder),
    print: (line) => printed.push(line),
  }).catch(() => []);
  return { played, printed, results };
}

describe("campaigns in lanes", () => {
  /** The running campaigns at the end of each campaign, and the names of the results. */
  async function playIn(lanes: number, wanted: readonly Campaign[]) {
    const running = new Set<string>();
    /** The running campaigns at the end of each campaign. */
    const runningAtEnd: string[][] = [];
    const results = await playAll(
      wanted,
      [],
      {
        play: async (one) => {
          running.add(nameOf(one));
          await new Promise((resolve) => setTimeout(resolve, 5));
          runningAtEnd.push([...running]);
          running.delete(nameOf(one));
          return finished(nameOf(one));
        },
        store: async () => {},
        onPlayed: async () => {},
        print: () => {},
      },
      lanes,
    );
    return { runningAtEnd, names: results.map(({ campaign: name }) => name) };
  }
  const TIMED: Campaign = { ...campaign("timed"), isTimed: true };
  const WAITING: Campaign = { ...campaign("waiting"), isWaiting: true };

  it("run in parallel, except timed campaigns, which run alone and last; results keep the order", async () => {
    const { runningAtEnd, names } = await playIn(2, [TIMED, ...WANTED]);
    expect(runningAtEnd).toEqual([["one", "two"], ["two", "three"], ["three"], ["timed"]]);
    expect(names).toEqual(["timed", "one", "two", "three"]);
  });

  it("have a further lane for campaigns that mostly wait", async () => {
    const { runningAtEnd } = await playIn(2, [WAITING, ...WANTED]);
    expect(runningAtEnd[0]).toEqual(["one", "two", "waiting"]);
  });

  it("run one after another if there is one lane, also campaigns that mostly wait", async () => {
    const { runningAtEnd } = await playIn(1, [WAITING, ...WANTED]);
    expect(runningAtEnd).toEqual([["waiting"], ["one"], ["two"], ["three"]]);
  });
});

describe("campaigns in order", () => {
  it("continue after the last passed campaign if they were interrupted", async () => {
    expect((await run({ interruptedAt: "three" })).played).toEqual(["one", "two"]);
    const { played, results, printed } = await run();
    expect(played).toEqual(["three"]);
    expect(results.map(({ campaign: name }) => name)).toEqual(["one", "two", "three"]);
    expect(printed[0]).toBe("✓ one passed on this commit at 2026-11-24T10:00:00.000Z");
  });

  it("are played again only if they failed", async () => {
    expect((await run({ fails: "two" })).results.map(({ failed }) => failed)).toEqual([0, 1, 0]);
    expect((await run()).played).toEqual(["two"]);
  });

  it("append one line to the document each time they are played", async () => {
    await run({ interruptedAt: "two" });
    await run();
    const lines = (await readFile(path.join(folder, "runs.md"), "utf8"))
      .split("\n")
      .filter((line) => line.startsWith("| 2026"));
    expect(lines).toEqual([
      "| 2026-11-24 10:00 | nightly | abc | one | everything | 3 | 0 | 2 |",
      "| 2026-11-24 10:00 | nightly | abc | two | everything | 3 | 0 | 2 |",
      "| 2026-11-24 10:00 | nightly | abc | three | everything | 3 | 0 | 2 |",
    ]);
  });
});

describe("the counts of a campaign's report", () => {
  it("are 0 without a report", async () => {
    expect(await readCounts(path.join(folder, "none.json"))).toEqual({ passed: 0, failed: 0 });
  });
});
