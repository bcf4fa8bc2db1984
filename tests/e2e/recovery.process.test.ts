import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { WATCHDOG_MS } from "../../src/engine/alarm-scheduler";
import type { RecordedRequest } from "../../simulated/providers/ledger";
import { toSituation } from "../../simulated/providers/situation";
import { Chance } from "../../simulated/chance";
import { median } from "./support/local";
import { runningService } from "./support/running-service";
import { FINAL, STORY, STORY_AGENTS } from "./support/story";

/**
 * How soon a run goes on after a kill, and that it does so, and ends, with nobody there. Of several, the median is judged: one moment
 * at which the machine stalls is no fault of the service.
 */
const WITH_A_REQUEST_MS = 3_000;
const ALONE_MS = 13_000;
/** Only against waiting for ever. */
const HEARD_WITHIN_MS = 60_000;
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);

const chance = new Chance(SEED);
const on = runningService(STORY);

type Run = { id: string; question: string };

async function startRun(): Promise<Run> {
  const question = `When does water boil? ${crypto.randomUUID()}`;
  const { session_id: id } = await on.client.start({
    baseUrl: on.providers.baseUrl,
    agents: STORY_AGENTS,
    question,
  });
  return { id, question };
}

const requestsOf = ({ question }: Run): RecordedRequest[] =>
  on.providers.requests().filter(({ asked }) => toSituation(asked).question === question);

/** Waits for the providers' word, never the service's: asking it would wake it. */
async function heard<T>(what: () => T | undefined, withinMs: number): Promise<T> {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    const found = what();
    if (found !== undefined) return found;
    if (performance.now() > giveUpAt)
      throw new Error(`The providers did not hear it within ${withinMs} ms.\n${on.service.log}`);
    await sleep(5);
  }
}

const nextRequest = (run: Run, after: number, withinMs: number): Promise<RecordedRequest> =>
  heard(() => requestsOf(run).find(({ startedAt }) => startedAt > after), withinMs);

const presented = (run: Run, withinMs: number): Promise<RecordedRequest> =>
  heard(
    () =>
      requestsOf(run).find(
        ({ asked, outcome }) =>
          toSituation(asked).stage === "presentation" && outcome === "completed",
      ),
    withinMs,
  );

/** Five seconds of a machine that runs: while it stalls nothing ends, so that such a moment counts as one of many. */
async function timeToEnd(): Promise<void> {
  for (let passed = 0; passed < 5_000; passed += 100) await sleep(100);
}

/** Unix ms, as the providers count. */
const now = (): number => performance.timeOrigin + performance.now();

describe(`after SIGKILL and a new start (KILL_SEED=${SEED})`, () => {
  it("a request makes the run go on within 3 s", async () => {
    const samples: number[] = [];
    for (let sample = 0; sample < 6; sample += 1) {
      const run = await startRun();
      await sleep(chance.int(50, 450)); // before the second answer sets a timer: the alarm is seconds away
      await on.service.kill();
      const killedAt = now();
      await on.service.start();
      const askedAt = now();
      await on.client.status(run.id);
      const { startedAt } = await nextRequest(run, killedAt, HEARD_WITHIN_MS);
      samples.push(startedAt - askedAt);
      await on.client.cancel(run.id);
    }
    console.log(
      `next call after a request: ${median(samples)} ms (median), ${Math.round(Math.max(...samples))} ms (most)`,
    );
    expect(Math.min(...samples)).toBeGreaterThan(0); // the request did it, not the alarm
    expect(median(samples)).toBeLessThan(WITH_A_REQUEST_MS);
    expect(Math.max(...samples)).toBeLessThan(2 * WITH_A_REQUEST_MS);
  });

  it("without any request the alarm makes it go on within 13 s, and it ends with nobody there", async () => {
    const runs: Run[] = [];
    for (let run = 0; run < 4; run += 1) {
      runs.push(await startRun());
      await sleep(chance.int(100, 400));
    }
    await on.service.kill();
    const killedAt = now();
    await on.service.start();
    const servedAt = now();
    const samples = await Promise.all(
      runs.map(
        async (run) => (await nextRequest(run, killedAt, HEARD_WITHIN_MS)).startedAt - killedAt,
      ),
    );
    console.log(
      `next call by the alarm alone: ${samples.map(Math.round).join(", ")} ms after the kill`,
    );
    // The alarm was set before the kill, but nothing rings before the service is back, however long its start takes.
    expect(median(samples)).toBeLessThan(
      Math.max(WATCHDOG_MS, servedAt - killedAt) + ALONE_MS - WATCHDOG_MS,
    );
    expect(Math.max(...samples)).toBeLessThan(2 * WATCHDOG_MS); // no alarm was missed: the next would come after that
    await Promise.all(runs.map((run) => presented(run, HEARD_WITHIN_MS)));
    await timeToEnd();
    const askedAt = now();
    for (const run of runs) {
      const turn = await on.client.turn(run.id);
      expect(turn).toMatchObject({ status: "completed", answer: FINAL });
      expect(turn.ended_at).toBeLessThan(askedAt / 1000);
    }
  });

  it("an alarm that came due while nothing ran makes it go on soon after the start", async () => {
    const run = await startRun();
    await sleep(300);
    await on.service.kill();
    await sleep(10_500);
    const startedAt = now();
    await on.service.start();
    const servedAt = now();
    const { startedAt: wokenAt } = await nextRequest(run, startedAt, HEARD_WITHIN_MS);
    console.log(
      `next call by an overdue alarm: ${Math.round(wokenAt - servedAt)} ms after the service was there`,
    );
    expect(wokenAt - servedAt).toBeLessThan(WATCHDOG_MS - 1_000); // so it was the overdue one, not one that was set anew
    await presented(run, HEARD_WITHIN_MS);
  });
});

describe("with no client connected", () => {
  it("a turn runs to its end", async () => {
    const run = await startRun();
    const { endedAt } = await presented(run, HEARD_WITHIN_MS);
    await timeToEnd();
    const askedAt = now();
    const turn = await on.client.turn(run.id);
    expect(turn).toMatchObject({ status: "completed", answer: FINAL });
    expect(turn.ended_at).toBeLessThan(askedAt / 1000);
    expect(endedAt).toBeLessThan(askedAt);
  });
});
