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
 * How soon a run resumes after a kill, and whether it resumes and ends without a client. The limits
 * apply to the median, because the machine may stall once.
 */
const RESUMED_BY_REQUEST_MS = 3_000;
const RESUMED_BY_ALARM_MS = 13_000;
/** Long limit that only prevents an endless wait. */
const REQUEST_WITHIN_MS = 60_000;
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

/**
 * Polls the providers. A request to the service would resume the run, so the service is not asked.
 */
async function waitFor<T>(find: () => T | undefined, withinMs: number): Promise<T> {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    const found = find();
    if (found !== undefined) return found;
    if (performance.now() > giveUpAt)
      throw new Error(`The providers did not receive it within ${withinMs} ms.\n${on.service.log}`);
    await sleep(5);
  }
}

/** The first request of a run after a time (Unix ms). */
const nextRequest = (run: Run, after: number, withinMs: number): Promise<RecordedRequest> =>
  waitFor(() => requestsOf(run).find(({ startedAt }) => startedAt > after), withinMs);

/** The request for the presentation, after its end. */
const presentationOf = (run: Run, withinMs: number): Promise<RecordedRequest> =>
  waitFor(
    () =>
      requestsOf(run).find(
        ({ asked, outcome }) =>
          toSituation(asked).stage === "presentation" && outcome === "completed",
      ),
    withinMs,
  );

/**
 * Waits five seconds, so that the turn ends. The wait consists of short steps: a stall of the
 * machine uses up only one step, so the service has enough time after a stall.
 */
async function waitForTurnEnd(): Promise<void> {
  for (let waitedMs = 0; waitedMs < 5_000; waitedMs += 100) await sleep(100);
}

/** Unix ms, by the providers' clock. */
const now = (): number => performance.timeOrigin + performance.now();

describe(`after SIGKILL and a new start (KILL_SEED=${SEED})`, () => {
  it("a request resumes the run within 3 s", async () => {
    const samples: number[] = [];
    for (let sample = 0; sample < 6; sample += 1) {
      const run = await startRun();
      await sleep(chance.int(50, 450));
      await on.service.kill();
      const killedAt = now();
      await on.service.start();
      const askedAt = now();
      await on.client.status(run.id);
      const { startedAt } = await nextRequest(run, killedAt, REQUEST_WITHIN_MS);
      samples.push(startedAt - askedAt);
      await on.client.cancel(run.id);
    }
    console.log(
      `next call after a request: ${median(samples)} ms (median), ${Math.round(Math.max(...samples))} ms (maximum)`,
    );
    expect(Math.min(...samples)).toBeGreaterThan(0); // the request resumed the run, not the alarm
    expect(median(samples)).toBeLessThan(RESUMED_BY_REQUEST_MS);
    expect(Math.max(...samples)).toBeLessThan(2 * RESUMED_BY_REQUEST_MS);
  });

  it("the alarm alone resumes the run within 13 s, and the run ends without a client", async () => {
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
        async (run) => (await nextRequest(run, killedAt, REQUEST_WITHIN_MS)).startedAt - killedAt,
      ),
    );
    console.log(
      `next call by the alarm alone: ${samples.map(Math.round).join(", ")} ms after the kill`,
    );
    // The alarm was set before the kill, but it can fire only after the start of the service, which
    // may take longer than the alarm.
    expect(median(samples)).toBeLessThan(
      Math.max(WATCHDOG_MS, servedAt - killedAt) + RESUMED_BY_ALARM_MS - WATCHDOG_MS,
    );
    // No alarm was lost: the next alarm would fire later.
    expect(Math.max(...samples)).toBeLessThan(2 * WATCHDOG_MS);
    await Promise.all(runs.map((run) => presentationOf(run, REQUEST_WITHIN_MS)));
    await waitForTurnEnd();
    const askedAt = now();
    for (const run of runs) {
      const turn = await on.client.turn(run.id);
      expect(turn).toMatchObject({ status: "completed", answer: FINAL });
      expect(turn.ended_at).toBeLessThan(askedAt / 1000);
    }
  });

  it("an alarm that was due while the service was down resumes the run soon after the start", async () => {
    const run = await startRun();
    await sleep(300);
    await on.service.kill();
    await sleep(10_500);
    const startedAt = now();
    await on.service.start();
    const servedAt = now();
    const { startedAt: wokenAt } = await nextRequest(run, startedAt, REQUEST_WITHIN_MS);
    console.log(
      `next call by an overdue alarm: ${Math.round(wokenAt - servedAt)} ms after the service was ready`,
    );
    // the overdue alarm resumed the run, not a new alarm
    expect(wokenAt - servedAt).toBeLessThan(WATCHDOG_MS - 1_000);
    await presentationOf(run, REQUEST_WITHIN_MS);
  });
});

describe("with no client connected", () => {
  it("a turn runs to its end", async () => {
    const run = await startRun();
    const { endedAt } = await presentationOf(run, REQUEST_WITHIN_MS);
    await waitForTurnEnd();
    const askedAt = now();
    const turn = await on.client.turn(run.id);
    expect(turn).toMatchObject({ status: "completed", answer: FINAL });
    expect(turn.ended_at).toBeLessThan(askedAt / 1000);
    expect(endedAt).toBeLessThan(askedAt);
  });
});
