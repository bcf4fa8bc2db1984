import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ServiceProcess } from "../../scripts/service/service-process";
import { type SimulatedProviders, startSimulatedProviders } from "../../scripts/simulated-providers/server";
import { answersThenVotes } from "../../scripts/simulated-providers/scripts";
import { toSituation } from "../../scripts/simulated-providers/situation";
import { eventsPath, sessionPath } from "../../src/protocol/api";
import { Chance } from "../simulation/world/random";
import { LOCAL, median } from "./support/local";
import { ServiceClient } from "./support/service-client";
import { FINAL, STORY, STORY_AGENTS } from "./support/story";
import { judge, toEvent } from "./support/verdict";
import { Watcher } from "./support/watcher";

/**
 * SIGKILL of the real runtime at random moments of a run, with clients watching. `KILL_SEED=… npm test` repeats the moments,
 * as far as the machine keeps its pace.
 */
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);
const KILLS_AT_LEAST = 20;
const RUN_WITHIN_MS = 45_000;

/** ms after the run was acknowledged, after the service was back, or after an event was seen for the first time. */
type Moment = { within: readonly [number, number]; of?: "presentation.started" };
type Plan = { name: string; kills: readonly Moment[] };

const soon = { within: [0, 30] } as const;
const recovering = { within: [0, 120] } as const;
const anywhere = { within: [50, 1_900] } as const;
const presenting = { within: [0, 900], of: "presentation.started" } as const;

const PLANS: readonly Plan[] = [
  { name: "right after the POST, and again", kills: [{ within: [0, 0] }, soon] },
  { name: "right after the POST, then anywhere", kills: [soon, anywhere] },
  { name: "in the presentation, and again while it recovers", kills: [presenting, recovering] },
  { name: "anywhere, then in the presentation", kills: [anywhere, presenting] },
  { name: "while it recovers, three times in a row", kills: [anywhere, recovering, recovering, recovering] },
  { name: "anywhere, three times", kills: [anywhere, anywhere, anywhere] },
  { name: "anywhere, three times, another run", kills: [anywhere, anywhere, anywhere] },
  { name: "late, three times", kills: [{ within: [1_000, 3_000] }, anywhere, anywhere] },
];

const chance = new Chance(SEED);
const restarts: number[] = [];
let kills = 0;
let service: ServiceProcess;
let providers: SimulatedProviders;
let client: ServiceClient;

beforeAll(async () => {
  providers = await startSimulatedProviders({ models: { ...STORY, quick: answersThenVotes({ answer: "Yes." }) } });
  service = await ServiceProcess.prepare(LOCAL);
  await service.start();
  client = new ServiceClient(service.url);
});
afterAll(async () => {
  await service?.stop();
  await providers?.close();
});

/** Clients of all kinds: there again at once, long after, without the deltas, and one that leaves even without a kill. */
function watchers(id: string): [full: Watcher, late: Watcher, summary: Watcher, restless: Watcher] {
  const session = `${service.url}${sessionPath(id)}/events`;
  const turn = `${service.url}${eventsPath(id, 1)}`;
  return [
    new Watcher(session),
    new Watcher(turn, { retryMs: 600 }),
    new Watcher(`${turn}?detail=summary`),
    new Watcher(session, { leavesAfterMs: 170, retryMs: 120 }),
  ];
}

async function killAndRestart(): Promise<void> {
  await service.kill();
  kills += 1;
  restarts.push(await service.start());
}

describe(`SIGKILL of the whole runtime in the middle of a run (KILL_SEED=${SEED})`, () => {
  it.each(PLANS)("$name", async ({ kills: moments }) => {
    const question = `When does water boil? ${crypto.randomUUID()}`;
    const { session_id: id } = await client.start({ baseUrl: providers.baseUrl, agents: STORY_AGENTS, question });
    const [full, late, summary, restless] = watchers(id);
    const told: string[] = [];
    for (const moment of moments) {
      told.push(await pass(moment, full));
      await killAndRestart();
      expect((await client.status(id)).meta.session_id).toBe(id);
    }
    await within(RUN_WITHIN_MS, Promise.all([full, late, summary, restless].map(({ ended }) => ended)));
    console.log(`killed ${told.join(", ")}`);

    const replay = new Watcher(`${service.url}${sessionPath(id)}/events`);
    await replay.ended;
    const requests = providers.requests().filter(({ asked }) => toSituation(asked).question === question);
    expect(judge({ frames: replay.frames, status: await client.status(id), requests })).toEqual([]);
    expect((await client.turn(id)).answer).toBe(FINAL);
    expectSameBytes(full, replay.frames);
    expectSameBytes(restless, replay.frames);
    expectSameBytes(late, replay.frames.slice(1)); // what belongs to the session alone comes before its turn
    expectSameBytes(
      summary,
      replay.frames.slice(1).filter((frame) => toEvent(frame).type !== "stream.delta"),
    );
    expect(full.losses).toBeGreaterThanOrEqual(moments.length);
  });

  it("tells, left alone, the story that the kills shall break", async () => {
    const { session_id: id } = await client.start({ baseUrl: providers.baseUrl, agents: STORY_AGENTS });
    const full = new Watcher(`${service.url}${sessionPath(id)}/events`);
    await full.ended;
    for (const type of ["vote.stale", "votes.cleared", "answers.injected"]) expect(full.has(type)).toBe(true);
    expect(full.frames.filter((frame) => frame.includes("event: answer.submitted"))).toHaveLength(4);
    expect((await client.turn(id)).answer).toBe(FINAL);
  });

  it("keeps every run whose POST was answered, and ends it", async () => {
    const acknowledged: string[] = [];
    for (let kill = 0; kill < 3; kill += 1) {
      let goOn = true;
      const posting = Array.from({ length: 3 }, async () => {
        while (goOn) {
          const run = await client
            .start({ baseUrl: providers.baseUrl, agents: [{ id: "quick", model: "quick" }] })
            .catch(() => null);
          if (run) acknowledged.push(run.session_id);
          else await sleep(5);
        }
      });
      const enough = acknowledged.length + 4;
      await expect.poll(() => acknowledged.length, { timeout: 10_000, interval: 5 }).toBeGreaterThanOrEqual(enough);
      await sleep(chance.int(0, 250));
      await service.kill();
      kills += 1;
      goOn = false;
      await Promise.all(posting);
      restarts.push(await service.start());
    }
    expect(acknowledged.length).toBeGreaterThan(9);
    for (const id of acknowledged) expect(await client.ended(id, 15_000)).toMatchObject({ status: "completed", answer: "Yes." });
  });

  it(`was killed at least ${KILLS_AT_LEAST} times, and answered again in time for a request to go on within 3 s`, () => {
    console.log(
      `${kills} kills; healthy again after ${median(restarts)} ms (median), ${Math.round(Math.max(...restarts))} ms (most)`,
    );
    expect(kills).toBeGreaterThanOrEqual(KILLS_AT_LEAST);
    expect(median(restarts)).toBeLessThan(3_000); // a busy machine takes four times as long as an idle one
  });
});

/** Waits for the moment; says what it was. Throws if the turn was over before, because then the kill would prove nothing. */
async function pass({ within: [from, to], of }: Moment, watcher: Watcher): Promise<string> {
  const ms = chance.int(from, to);
  const giveUpAt = performance.now() + RUN_WITHIN_MS;
  while (of && !watcher.has(of)) {
    if (performance.now() > giveUpAt) throw new Error(`${of} was never seen`);
    await sleep(5);
  }
  await sleep(ms);
  if (watcher.isOver) throw new Error(`the turn was over ${ms} ms after ${of ?? "the last start"}`);
  return `${ms} ms after ${of ?? "the last start"}`;
}

/** Each frame once, in order, byte for byte. */
function expectSameBytes(watcher: Watcher, log: readonly Buffer[]): void {
  expect(watcher.frames.map(String)).toEqual(log.map(String));
  expect(watcher.bytes.equals(Buffer.concat(log))).toBe(true);
}

function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const late = sleep(ms, undefined, { ref: false }).then(() =>
    Promise.reject(new Error(`not done after ${ms} ms\n${service.log}`)),
  );
  return Promise.race([promise, late]);
}
