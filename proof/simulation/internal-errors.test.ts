import { expect, it } from "vitest";
import { OUTSIDE } from "./engine/invariants";
import { play } from "./engine/judge";
import type { EngineSituation } from "./engine/engine-situation";
import type { Platform } from "./engine/platform";

type Disk = Platform["disk"];

const SITUATION: EngineSituation = {
  seed: 5,
  agents: 2,
  habits: [],
  faults: ["crash_in_stream"],
  strikes: null,
};

const hasTables = (disk: Disk): boolean =>
  disk.read("SELECT 1 FROM sqlite_master WHERE name = 'deltas'").length > 0;

/**
 * Returns a callback for each start of the simulated process. The first start has no tables and is
 * skipped. The second start, after the first crash, executes `breaks`. The third start, after the
 * next crash, executes `repairs`. An error of a broken disk is not visible in the log.
 */
function breakOnce({ breaks, repairs }: { breaks: string; repairs: string }): (disk: Disk) => void {
  let isBroken: boolean | null = null;
  return (disk) => {
    if (isBroken === false || !hasTables(disk)) return;
    disk.read(isBroken ? repairs : breaks);
    isBroken = !isBroken;
  };
}

it.each([
  {
    name: "in a transaction",
    breaks:
      "CREATE TRIGGER planted BEFORE INSERT ON events BEGIN SELECT raise(ABORT, 'planted'); END",
    repairs: "DROP TRIGGER planted",
    error: "planted",
  },
  {
    name: "during the start of the object",
    breaks: "UPDATE deltas SET body = 'planted' || body",
    repairs: "UPDATE deltas SET body = substr(body, 8)",
    error: "is not valid JSON",
  },
])(
  "an internal error $name is reported, also if the disk works again after the next restart",
  async ({ error, ...defect }) => {
    const soundRun = await play(SITUATION);
    const run = await play(SITUATION, breakOnce(defect));
    expect(soundRun.platform.faults).toEqual([]);
    expect(run.platform.faults).toEqual([expect.stringContaining(error)]);
    const violated = OUTSIDE.filter(([, check]) => check(run).length > 0).map(([id]) => id);
    expect(violated).toEqual(["unhandled"]);
  },
);

it("a disk error is not reported as an internal error", async () => {
  let strikes = 0;
  for (let seed = 1; seed <= 20; seed += 1) {
    const { faults, platform } = await play({
      ...SITUATION,
      seed,
      faults: ["disk_error", "crash_in_stream"],
    });
    expect(platform.faults).toEqual([]);
    strikes += faults.struck.filter(({ fault }) => fault === "disk_error").length;
  }
  expect(strikes).toBeGreaterThan(20);
});
