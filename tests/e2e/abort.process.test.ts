import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { RecordedRequest } from "../../simulated/providers/ledger";
import { answersThenVotes, hangs, paced } from "../../simulated/providers/scripts";
import { runningService } from "./support/running-service";

/** An abandoned call costs money and a slot, so its connection is closed at once. */
const CLOSED_WITHIN_MS = 2_000;
/** Only prevents an endless wait. */
const HEARD_WITHIN_MS = 30_000;
/**
 * Time limit of a turn: its calls start within it, and others within a fifth of it, also on a slow
 * machine.
 */
const SECONDS = 15;
const MODELS = {
  mute: hangs("headers"),
  stalls: hangs("body", { text: "Water boils at 100 °C, and", tokens: 5 }),
  good: paced({ ttftMs: 100, tokensPerSecond: 100 }, answersThenVotes({ answer: "At 100 °C." })),
};
const agents = (...models: (keyof typeof MODELS)[]) =>
  models.map((model, index) => ({ id: `${model}-${index}`, model }));

const on = runningService(MODELS);
let before = 0;

afterEach(() => {
  before = on.providers.requests().length;
});

const requests = (): readonly RecordedRequest[] => on.providers.requests().slice(before);
const now = (): number => performance.timeOrigin + performance.now();

async function until(holds: () => boolean, withinMs: number): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > giveUpAt)
      throw new Error(
        `Not within ${withinMs} ms: ${JSON.stringify(requests(), null, 1)}\n${on.service.log}`,
      );
    await sleep(5);
  }
}

/**
 * Asserts that the client closed each of these connections, and how long after `from` (unix ms).
 */
async function closings(from: number, ofModel: string): Promise<number[]> {
  const mine = () =>
    requests().filter(({ model, startedAt }) => model === ofModel && startedAt <= from);
  expect(mine()).not.toHaveLength(0);
  await until(() => mine().every(({ endedAt }) => endedAt !== null), CLOSED_WITHIN_MS);
  expect(mine().map(({ outcome }) => outcome)).toEqual(mine().map(() => "closed"));
  return mine().map(({ endedAt }) => (endedAt ?? Number.NaN) - from);
}

describe("cancelling closes the provider's connection within 2 s", () => {
  it.each([
    {
      name: "while it waits for headers",
      model: "mute",
      ready: (request: RecordedRequest) => request.status === 0,
    },
    {
      name: "while the body stalls",
      model: "stalls",
      ready: (request: RecordedRequest) => request.tokensSent === 5,
    },
  ] as const)("$name", async ({ model, ready }) => {
    const { session_id: id } = await on.client.start({
      baseUrl: on.providers.baseUrl,
      agents: agents(model, model, model),
    });
    await until(() => requests().filter(ready).length === 3, HEARD_WITHIN_MS);
    await sleep(200);
    expect(requests().map(({ outcome }) => outcome)).toEqual(["open", "open", "open"]);
    const askedAt = now();
    await on.client.cancel(id);
    const after = await closings(askedAt, model);
    console.log(`closed ${after.map(Math.round).join(", ")} ms after the cancellation`);
    expect(Math.max(...after)).toBeLessThan(CLOSED_WITHIN_MS);
    expect((await on.client.turn(id)).status).toBe("cancelled");
    await sleep(1_000);
    expect(requests()).toHaveLength(3); // no new call starts afterwards
  });

  it("also for queued calls, which are never sent", async () => {
    const team = agents("mute", "mute", "mute", "mute", "mute", "mute");
    const { session_id: id } = await on.client.start({
      baseUrl: on.providers.baseUrl,
      agents: team,
    });
    await until(() => requests().length === 4, HEARD_WITHIN_MS);
    await sleep(300);
    await on.client.cancel(id);
    await closings(now(), "mute");
    await sleep(500);
    expect(requests()).toHaveLength(4);
  });
});

describe("a time limit closes the provider's connection within 2 s", () => {
  it("when the time of the coordination, then of the turn, is over", async () => {
    const run = await on.client.start({
      baseUrl: on.providers.baseUrl,
      agents: agents("stalls", "stalls"),
      timeout_seconds: SECONDS,
    });
    const startedAt = now();
    await until(() => requests().length === 2, HEARD_WITHIN_MS);
    // a fifth of the time is reserved for the presentation
    await sleep(0.8 * SECONDS * 1_000 - (now() - startedAt));
    await until(
      () =>
        requests()
          .slice(0, 2)
          .every(({ outcome }) => outcome === "closed"),
      CLOSED_WITHIN_MS,
    );
    const turn = await on.client.ended(run.session_id, HEARD_WITHIN_MS);
    expect(turn).toMatchObject({
      status: "completed",
      finish_reason: "deadline",
      answer: expect.stringContaining("Water boils"),
    });
    const after = await closings(startedAt + SECONDS * 1_000, "stalls");
    console.log(`closed ${after.map(Math.round).join(", ")} ms after the deadline`);
    expect(requests()).toHaveLength(3); // the presentation was tried
    expect(Math.max(...after)).toBeLessThan(CLOSED_WITHIN_MS);
  });

  it("when an agent's first round exceeds its time, and the others continue without it", async () => {
    // 4 s of work and as much for the decision.
    const config = {
      timeout_settings: { initial_round_timeout_seconds: 4, round_timeout_grace_seconds: 0 },
    };
    const run = await on.client.start({
      baseUrl: on.providers.baseUrl,
      agents: agents("good", "mute", "good"),
      config,
    });
    const startedAt = now();
    await sleep(8_000);
    const after = await closings(startedAt + 8_000, "mute");
    expect(Math.max(...after)).toBeLessThan(CLOSED_WITHIN_MS);
    expect(await on.client.ended(run.session_id, HEARD_WITHIN_MS)).toMatchObject({
      status: "completed",
      answer: "At 100 °C.",
    });
  });
});
