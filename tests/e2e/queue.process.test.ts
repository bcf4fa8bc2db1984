import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Client } from "../../client/index";
import { Chance } from "../../simulated/chance";
import { answersThenVotes, paced } from "../../simulated/providers/scripts";
import { toSituation } from "../../simulated/providers/situation";
import { runningService } from "./support/running-service";

/** A queue of ten questions in the real runtime, which is killed while the questions run. */
const SEED = Number(process.env["KILL_SEED"] ?? Date.now() % 1_000_000);
const KILLS = 6;
const ENDS_WITHIN_MS = 120_000;

const chance = new Chance(SEED);
const on = runningService({
  unhurried: paced({ ttftMs: 150 }, answersThenVotes({ answer: "At 100 degrees." })),
});
const questionOf = (session: string, nth: number): string => `Question ${nth} of ${session}?`;

/** A client that opens a new connection for each request, because a kill breaks open ones. */
const client = (): Client =>
  new Client({ server: on.service.url, headers: { connection: "close" } });

async function startSession(): Promise<string> {
  const { session_id } = await on.client.start({
    baseUrl: on.providers.baseUrl,
    agents: [{ id: "a", model: "unhurried" }],
  });
  return session_id;
}

/** Queues ten questions; returns their ids. */
async function queueTen(session: string): Promise<string[]> {
  const ids: string[] = [];
  for (let nth = 1; nth <= 10; nth += 1) {
    const body = { question: questionOf(session, nth), on_busy: "queue" as const };
    const started = await client().turns.start(session, body);
    if (!("queued" in started)) throw new Error("the session was not busy");
    ids.push(started.queued.id);
  }
  return ids;
}

async function untilAllRan(session: string, turns: number): Promise<void> {
  const giveUpAt = performance.now() + ENDS_WITHIN_MS;
  for (;;) {
    const { data } = await client().turns.list(session);
    if (data.length >= turns && data.every(({ status }) => status !== "running")) return;
    if (performance.now() > giveUpAt) throw new Error(JSON.stringify(data));
    await sleep(200);
  }
}

describe(`a queue of ten questions (KILL_SEED=${SEED})`, () => {
  it("survives SIGKILL in any place, and runs each question once, in order", async () => {
    const session = await startSession();
    const ids = await queueTen(session);
    for (let kill = 0; kill < KILLS; kill += 1) {
      await sleep(chance.int(0, 900));
      await on.service.kill();
      await on.service.start();
    }
    await untilAllRan(session, 11);
    const events = await on.client.events(session);
    const starts = events.flatMap((event) =>
      event.type === "turn.started" ? [[event.queue_id, event.question]] : [],
    );
    expect(starts.slice(1)).toEqual(ids.map((id, nth) => [id, questionOf(session, nth + 1)]));
    const { data } = await client().turns.list(session);
    expect(data.map(({ status }) => status)).toEqual(data.map(() => "completed"));
    expect((await client().queue.get(session)).data).toEqual([]);
  });

  it("goes on after a restart without any request", async () => {
    const session = await startSession();
    await queueTen(session);
    await on.service.kill();
    await on.service.start();
    const last = questionOf(session, 10);
    const isAsked = () =>
      on.providers
        .requests()
        .some(
          ({ asked, outcome }) => toSituation(asked).question === last && outcome === "completed",
        );
    const giveUpAt = performance.now() + ENDS_WITHIN_MS;
    while (!isAsked() && performance.now() < giveUpAt) await sleep(100);
    expect(isAsked()).toBe(true);
  });
});
