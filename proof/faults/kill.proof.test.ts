import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countOf, rotated } from "../counts";
import { type Figures, playKillCampaign } from "./kills/campaign";
import { PLACES } from "./kills/points";
import { percentile, toReport } from "./kills/report";
import { ServiceProcess } from "../../simulated/service/service-process";
import { answersThenVotes } from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { Chance } from "../../simulated/chance";
import { LOCAL } from "../../tests/e2e/support/local";
import { ServiceClient } from "../../tests/e2e/support/service-client";
import { FINAL, STORY, STORY_AGENTS } from "../../tests/e2e/support/story";
import { Watcher } from "../../tests/e2e/support/watcher";
import { sessionPath } from "../../src/protocol/paths";

/**
 * SIGKILL of the real runtime. With `KILL_SEED=…`, the campaign `faults/kill` of `npm run proof`
 * repeats the same kills.
 */
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);
/** Number of kills: at named places, some of them after a first kill, and at random moments. */
const KILLS = countOf("kills");
const REQUIRED_PLACES = rotated(PLACES, countOf("kill_places"));
/** Pairs of which both places are reached. About one in four drawn pairs cannot be reached. */
const PAIRS = countOf("kill_pairs");
/** The fewest kills at a random moment when a run was active. */
const FEWEST_RANDOM_KILLS = countOf("random_kills");
const TIMEOUT_MS = 300_000 + KILLS * 5_000;

describe(`${KILLS} kills at ${REQUIRED_PLACES.length} named places, in pairs and at random (KILL_SEED=${SEED})`, () => {
  let figures: Figures;
  beforeAll(async () => {
    figures = await playKillCampaign({
      ...{ seed: SEED, kills: KILLS, atRandom: FEWEST_RANDOM_KILLS, pairs: PAIRS, lanes: 2 },
      ...{ places: REQUIRED_PLACES, eachPlace: countOf("kills_at_each_place") },
    });
    console.log(toReport(figures));
  }, TIMEOUT_MS);

  it("break no promise", () => {
    expect(figures.failures).toEqual([]);
    expect(figures.kills.atPlaces + figures.kills.random).toBeGreaterThanOrEqual(KILLS);
    expect(figures.kills.random).toBeGreaterThanOrEqual(FEWEST_RANDOM_KILLS);
  });

  it("reach two places one after the other", () => {
    expect(figures.pairs.reached).toBeGreaterThanOrEqual(PAIRS);
  });

  it("reach every required place", () => {
    expect(figures.places.wanted).toBe(REQUIRED_PLACES.length * countOf("kills_at_each_place"));
    expect(figures.places.missed).toEqual([]);
  });

  it("let runs continue within seconds, also on a busy machine", () => {
    expect(figures.recoveryMs.length).toBeGreaterThan(KILLS / 4);
    // The aim is 2 s, and the report says whether it was met. An idle machine takes a third of that
    // time, mostly for the start of the runtime. If ten processes share two cores, this start takes
    // several times as long, which must not fail the test.
    expect(percentile(figures.recoveryMs, 0.5)).toBeLessThan(6_000);
  });
});

describe("the shipped service", () => {
  let service: ServiceProcess;
  let providers: SimulatedProviders;
  let client: ServiceClient;
  const chance = new Chance(SEED);

  beforeAll(async () => {
    providers = await startSimulatedProviders({
      models: { ...STORY, quick: answersThenVotes({ answer: "Yes." }) },
    });
    service = await ServiceProcess.prepare(LOCAL);
    await service.start();
    client = new ServiceClient(service.url);
  });
  afterAll(async () => {
    await service?.stop();
    await providers?.close();
  });

  it("plays the whole story without kills", async () => {
    const { session_id: id } = await client.start({
      baseUrl: providers.baseUrl,
      agents: STORY_AGENTS,
    });
    const full = new Watcher(`${service.url}${sessionPath(id)}/events`);
    await full.ended;
    for (const type of ["vote.stale", "votes.cleared", "answers.injected"])
      expect(full.has(type)).toBe(true);
    expect(full.frames.filter((frame) => frame.includes("event: answer.submitted"))).toHaveLength(
      4,
    );
    expect((await client.turn(id)).answer).toBe(FINAL);
  });

  it("keeps and completes every run whose POST was answered", async () => {
    const acknowledged: string[] = [];
    for (let kill = 0; kill < 3; kill += 1) {
      let isPosting = true;
      const posting = Array.from({ length: 3 }, async () => {
        while (isPosting) {
          const run = await client
            .start({ baseUrl: providers.baseUrl, agents: [{ id: "quick", model: "quick" }] })
            .catch(() => null);
          if (run) acknowledged.push(run.session_id);
          else await sleep(5);
        }
      });
      const enough = acknowledged.length + 4;
      await expect
        .poll(() => acknowledged.length, { timeout: 60_000, interval: 5 })
        .toBeGreaterThanOrEqual(enough);
      await sleep(chance.int(0, 250));
      await service.kill();
      isPosting = false;
      await Promise.all(posting);
      await service.start();
    }
    expect(acknowledged.length).toBeGreaterThan(9);
    for (const id of acknowledged)
      expect(await client.ended(id, 60_000)).toMatchObject({ status: "completed", answer: "Yes." });
  });
});
