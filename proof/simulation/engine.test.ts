import { describe, expect, it } from "vitest";
import { countOf } from "../counts";
import { LOG_VERSION } from "../../src/protocol/events";
import { breaches } from "./engine/invariants";
import { judge, play } from "./engine/judge";
import { REVIVAL_MS } from "./engine/platform";
import type { DiskChange } from "./engine/run";
import type { Fault } from "./engine/faults";
import { type EngineSituation, situationOf } from "./engine/engine-situation";

/**
 * These tests check the simulation of the service: the real engine in a simulated world. `npm run
 * simulate` plays many more seeds.
 */

const firstSeeds = (count: number): number[] => Array.from({ length: count }, (_, nth) => nth + 1);
const SEEDS = firstSeeds(countOf("engine_seeds"));
/** A few seeds, enough to show that something happens often. */
const SOME_SEEDS = firstSeeds(6);

describe("the simulated service", () => {
  it.each(SEEDS.slice(0, 20))("keeps every invariant in the session of seed %i", async (seed) => {
    expect((await judge(situationOf(seed))).breaches).toEqual([]);
  });

  it("gives the same log for the same seed, also if other seeds were played before", {
    timeout: 300_000,
  }, async () => {
    const first: string[] = [];
    for (const seed of SEEDS) first.push((await judge(situationOf(seed))).hash);
    const again: string[] = [];
    for (const seed of SEEDS.toReversed()) again.unshift((await judge(situationOf(seed))).hash);
    expect(again).toEqual(first);
    expect(new Set(first).size).toBe(SEEDS.length);
  });
});

/** A situation without faults; `change` overrides its fields. */
const quietSituation = (seed: number, change: Partial<EngineSituation> = {}): EngineSituation => ({
  seed,
  agents: 2,
  habits: ["unwatched"],
  faults: [],
  strikes: null,
  ...change,
});

it.each<{ type: string; habits: EngineSituation["habits"] }>([
  { type: "conversation.compacted", habits: ["tools", "long_results"] },
  { type: "tools.listed", habits: ["served"] },
  { type: "call.waiting", habits: ["rated", "stubborn"] },
  { type: "hosted_tool.completed", habits: ["hosted"] },
  { type: "citations.added", habits: ["hosted"] },
  { type: "head.moved", habits: ["branches"] },
  { type: "turn.cancelled", habits: ["queue"] },
])("$type occurs in most sessions with the habits $habits", async ({ type, habits }) => {
  let sessions = 0;
  for (const seed of SOME_SEEDS) {
    const run = await play(quietSituation(seed, { habits: ["unwatched", ...habits] }));
    expect(breaches(run)).toEqual([]);
    if (run.log.some((event) => event.type === type)) sessions += 1;
  }
  expect(sessions).toBeGreaterThan(SOME_SEEDS.length / 2);
});

it("tools of a server are called after its listing failed or changed, and return results", async () => {
  const met = new Set<string>();
  for (const seed of SOME_SEEDS) {
    const { log } = await play(
      quietSituation(seed, { habits: ["unwatched", "served", "stubborn"], faults: ["tool_fails"] }),
    );
    const listings = new Map<string, number>();
    for (const event of log) {
      if (event.type === "tools.listed")
        listings.set(event.agent, (listings.get(event.agent) ?? 0) + 1);
      if (event.type === "tools.listed" && event.problem !== null) met.add("a server that failed");
      if (event.type === "tool.completed" && event.outcome === "ok") met.add(event.name);
    }
    if ([...listings.values()].some((times) => times > 1)) met.add("a list that changed");
  }
  expect([...met].toSorted()).toEqual([
    "a list that changed",
    "a server that failed",
    "look_up",
    "place_order",
  ]);
});

describe("a session that an earlier release has started", () => {
  /** Changes the log into a log of version 1, in which turns have no `log_version`. */
  const asVersion1: DiskChange = (disk) => {
    const [table] = disk.read("SELECT 1 FROM sqlite_master WHERE name = 'events'");
    if (table)
      disk.read(
        "UPDATE events SET body = json_remove(body, '$.log_version') WHERE type = 'turn.started'",
      );
  };

  it("is restored from its tables and runs to its end", async () => {
    let restored = 0;
    for (const seed of SEEDS) {
      const situation = quietSituation(seed, {
        faults: ["crash_in_stream", "crash_in_tool"],
        habits: ["unwatched", "tools"],
      });
      const run = await play(situation, asVersion1);
      expect(breaches(run)).toEqual([]);
      const wasInterrupted = run.platform.deaths.some(
        ({ head }) => head > 0 && head < run.log.length,
      );
      const [version] = run.log.flatMap((event) =>
        event.type === "turn.started" ? [event.log_version ?? 1] : [],
      );
      expect(version).toBe(wasInterrupted ? 1 : LOG_VERSION);
      if (wasInterrupted) restored += 1;
    }
    expect(restored).toBeGreaterThan(SEEDS.length / 2);
  });
});

it("crashes strike only a running process, and are recorded with the head of the log on disk", async () => {
  const crashes: Fault[] = [
    "crash_at_random",
    "crash_in_boot",
    "crash_after_commit",
    "crash_before_send",
  ];
  let deaths = 0;
  for (const seed of SEEDS.slice(0, 20)) {
    const { faults, platform, startedAt } = await play(
      quietSituation(seed, { faults: [...crashes, "slow_disk"] }),
    );
    const struck = faults.struck.filter(({ fault }) => crashes.includes(fault));
    expect(struck.map(({ at, head }) => ({ at, head }))).toEqual(platform.deaths);
    let revivedAt = startedAt;
    for (const { at } of platform.deaths) {
      expect(at).toBeGreaterThanOrEqual(revivedAt);
      revivedAt = at + REVIVAL_MS;
    }
    deaths += platform.deaths.length;
  }
  expect(deaths).toBeGreaterThan(50);
});

describe("regressions found by the simulation", () => {
  it("probes of a presentation are counted separately from probes of the previous round", async () => {
    expect((await judge(situationOf(9_946))).breaches).toEqual([]);
  });

  it("the next request revives a process that crashed after all work was done", async () => {
    expect((await judge(situationOf(18_193))).breaches).toEqual([]);
  });

  it("alarms do not fire repeatedly while the tenant is slow", async () => {
    for (const seed of SEEDS) {
      const run = await play(quietSituation(seed, { faults: ["tenant_slow"] }));
      expect(run.platform.disk.alarmsSet).toBeLessThan(10 + (run.endedAt - run.startedAt) / 1_000);
    }
  });

  it("alarms do not fire repeatedly until the wall clock has caught up with a pending retry", async () => {
    for (const seed of SEEDS) {
      const { breaches } = await judge(
        quietSituation(seed, {
          faults: ["clock_back", "tenant_deaf", "tenant_answer_lost"],
          habits: ["second_turn"],
        }),
      );
      expect(breaches).toEqual([]);
    }
  });
});
