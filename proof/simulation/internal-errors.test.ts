import { expect, it } from "vitest";
import { OUTSIDE } from "./engine/invariants";
import { play } from "./engine/judge";
import type { EngineSituation } from "./engine/engine-situation";
import type { Platform } from "./engine/platform";

/**
 * An internal error that a restart repairs leaves no trace in the log. It must still be reported.
 */

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

/** Breaks something after the first process has died, and repairs it after the next one. */
function once({ breaks, mends }: { breaks: string; mends: string }): (disk: Disk) => void {
  let isBroken: boolean | null = null;
  return (disk) => {
    if (isBroken === false || !hasTables(disk)) return;
    disk.read(isBroken ? mends : breaks);
    isBroken = !isBroken;
  };
}

it.each([
  {
    name: "in a transaction",
    breaks:
      "CREATE TRIGGER planted BEFORE INSERT ON events BEGIN SELECT raise(ABORT, 'planted'); END",
    mends: "DROP TRIGGER planted",
    error: "planted",
  },
  {
    name: "while the object boots",
    breaks: "UPDATE deltas SET body = 'planted' || body",
    mends: "UPDATE deltas SET body = substr(body, 8)",
    error: "is not valid JSON",
  },
])(
  "an internal error $name is reported, although the restart repairs it",
  async ({ error, ...defect }) => {
    const sound = await play(SITUATION);
    const run = await play(SITUATION, once(defect));
    expect(sound.platform.faults).toEqual([]);
    expect(run.platform.faults).toEqual([expect.stringContaining(error)]);
    const found = OUTSIDE.filter(([, check]) => check(run).length > 0).map(([id]) => id);
    expect(found).toEqual(["unhandled"]);
  },
);

it("a disk error is no internal error, neither in a transaction nor while the object boots", async () => {
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
