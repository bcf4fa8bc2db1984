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
 * How soon a run resumes after a kill, and that it resumes and ends without a client. The median
 * counts, because the machine may stall once.
 */
const WITH_A_REQUEST_MS = 3_000;
const ALONE_MS = 13_000;
/** Only prevents an endless wait. */
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

/** Waits for the providers, never for the service: a request to the service would wake it. */
async function waitFor<T>(what: () => T | undefined, withinMs: number): Promise<T> {
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
  waitFor(() => requestsOf(run).find(({ startedAt }) => startedAt > after), withinMs);

const presented = (run: Run, withinMs: number): Promise<RecordedRequest> =>
  waitFor(
    () =>
      requestsOf(run).find(
        ({ asked, outcome }) =>
          toSituation(asked).stage === "presentation" && outcome === "completed",
      ),
    withinMs,
  );

/**
 * Five seconds on an idle machine. During a stall nothing ends, so a stall counts as one moment.
 */
async function timeToEnd(): Promise<void> {
  for (let passed = 0; passed < 5_000; passed += 100) await sleep(100);
}

/** Unix ms, by the providers' clock. */
const now = (): number => performance.timeOrigin + performance.now();

describe(`after SIGKILL and a new start (KILL_SEED=${SEED})`, () => {
  it("a request makes the run resume within 3 s", async () => {
    const samples: number[] = [];
    for (let sample = 0; sample < 6; sample += 1) {
      const run = await startRun();
      // before the second answer sets a timer: the alarm is seconds away
      await sleep(chance.int(50, 450));
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

  it("the alarm alone makes the run resume within 13 s, and it ends without a client", async () => {
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
    // The alarm was set before the kill, but it cannot fire before the service has started, which
    // takes any time.
    expect(median(samples)).toBeLessThan(
      Math.max(WATCHDOG_MS, servedAt - killedAt) + ALONE_MS - WATCHDOG_MS,
    );
    // no alarm was missed: the next would be later
    expect(Math.max(...samples)).toBeLessThan(2 * WATCHDOG_MS);
    await Promise.all(runs.map((run) => presented(run, HEARD_WITHIN_MS)));
    await timeToEnd();
    const askedAt = now();
    for (const run of runs) {
      const turn = await on.client.turn(run.id);
      expect(turn).toMatchObject({ status: "completed", answer: FINAL });
      expect(turn.ended_at).toBeLessThan(askedAt / 1000);
    }
  });

  it("an alarm that was due during the outage makes the run resume soon after the start", async () => {
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
    // the overdue alarm, not a new one
    expect(wokenAt - servedAt).toBeLessThan(WATCHDOG_MS - 1_000);
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
